"""Memory of a device that two players share, so that tensors need not pass through the host.

On a GPU it is an allocation of the driver's, which one process makes and another opens by a file that it is
given (CUDA Driver API, *Virtual Memory Management*): no name leads to it, so namespaces do not matter, and
nobody who was not given the file can open it. Without a GPU it is an anonymous file, which tests use.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from grader.protocol.arena import Arena

POSIX_FILE, PINNED, DEVICE, READ_WRITE = 1, 1, 1, 3  # of the driver's enumerations


class _Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class _Properties(ctypes.Structure):
    """``CUmemAllocationProp``: pinned memory of a device, whose handle is a file."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("handles", ctypes.c_int),
        ("location", _Location),
        ("windows", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    )


class _Access(ctypes.Structure):
    _fields_ = (("location", _Location), ("flags", ctypes.c_int))


@dataclass(frozen=True, slots=True)
class _Bytes:
    """Memory at an address, in the form that ``torch.as_tensor`` takes without copying it."""

    address: int
    nbytes: int

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": (self.nbytes,), "typestr": "|u1", "data": (self.address, False), "version": 3}


class DeviceArena:
    """Bytes that this process and one other can read and write. ``nbytes``: a multiple of two MiB."""

    def __init__(self, device: str, nbytes: int, file: int = -1) -> None:
        """Open what lies behind ``file``, or make it; then ``file`` is what another process opens it by."""
        self.file = file
        self._address = 0  # on a GPU
        if device == "cuda":
            self._address = self._mapped(nbytes)
            self._bytes = torch.as_tensor(_Bytes(self._address, nbytes), device="cuda")
        else:
            if file < 0:
                with tempfile.TemporaryFile() as made:
                    made.truncate(nbytes)
                    self.file = os.dup(made.fileno())
            self._bytes = torch.frombuffer(mmap.mmap(self.file, nbytes), dtype=torch.uint8)

    def _mapped(self, nbytes: int) -> int:
        """Where it lies in this process, for as long as the process lives."""
        torch.cuda.current_stream().synchronize()  # there is a context now
        driver = ctypes.CDLL("libcuda.so.1")
        here = _Location(DEVICE, torch.cuda.current_device())
        handle, address, size = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_size_t(nbytes)
        no_address, nothing = ctypes.c_uint64(0), ctypes.c_uint64(0)
        if self.file < 0:
            wanted, file = _Properties(PINNED, POSIX_FILE, here), ctypes.c_int(-1)
            _called(driver.cuMemCreate, ctypes.byref(handle), size, ctypes.byref(wanted), nothing)
            _called(driver.cuMemExportToShareableHandle, ctypes.byref(file), handle, POSIX_FILE, nothing)
            self.file = file.value
        else:
            given = ctypes.c_void_p(self.file)
            _called(driver.cuMemImportFromShareableHandle, ctypes.byref(handle), given, POSIX_FILE)
        no_offset = ctypes.c_size_t(0)
        _called(driver.cuMemAddressReserve, ctypes.byref(address), size, no_offset, no_address, nothing)
        _called(driver.cuMemMap, address, size, no_offset, handle, nothing)
        access = _Access(here, READ_WRITE)
        _called(driver.cuMemSetAccess, address, size, ctypes.byref(access), ctypes.c_size_t(1))
        _called(driver.cuMemRelease, handle)  # the mapping keeps it
        return address.value

    def close(self) -> None:
        """Give the memory back; no view of it may be used any more."""
        if self._address:
            torch.cuda.synchronize()
            driver, address = ctypes.CDLL("libcuda.so.1"), ctypes.c_uint64(self._address)
            size = ctypes.c_size_t(self._bytes.numel())
            _called(driver.cuMemUnmap, address, size)
            _called(driver.cuMemAddressFree, address, size)
        self._bytes, self._address = torch.empty(0, dtype=torch.uint8), 0

    def elements(self, dtype: torch.dtype, count: int, at: int) -> torch.Tensor:
        """So many elements from byte ``at`` on, where they lie."""
        return self._bytes[at : at + count * dtype.itemsize].view(dtype)


def elements(arena: Arena | DeviceArena, dtype: torch.dtype, count: int, at: int) -> torch.Tensor:
    """So many elements of an arena from byte ``at`` on, where they lie."""
    if isinstance(arena, DeviceArena):
        return arena.elements(dtype, count, at)
    return torch.frombuffer(arena.map, dtype=dtype, count=count, offset=at)


def _called(function: Any, *arguments: object) -> None:
    if code := function(*arguments):
        raise OSError(f"{function.__name__} of the driver ended with error {code}")
