"""The cuda device of the process that runs a submission. ``activate`` before torch is imported."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import importlib
import inspect
import sys
from typing import TYPE_CHECKING, Any

from grader.backends.extension import load_inline, tvm_inline
from grader.backends.simt.runtime import (
    counts,
    memory_findings,
    recordings,
    stand_ins,
    streams,
    value_origins,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import torch

    from grader.backends.extension.request import BuildRequest
    from grader.protocol.messages import Launch, MemoryFinding, Writer

CHECK, COUNT = 1, 2
# Where a launch went while a second device was current: its input's device in all but the last.
DEFAULT_STREAM, STREAM_OF_ANOTHER, ANOTHER_DEVICE = 1, 2, 3
ACTIVE: list[Runtime] = []  # of this process: none or one


class Runtime:
    """The running back end: what happened on the device since it was last asked."""

    def __init__(self, library: ctypes.CDLL, step_budget: int, *, checked: bool) -> None:
        self._library = library
        self.recorder = recordings.Recorder(library)
        self._budget = step_budget
        self._mode = CHECK if checked else 0
        self._apply()

    def begin(self, last_words_fd: int, step_budget: int) -> None:
        """After a fork: this process's place for last words, and its budget (see :func:`activate`)."""
        self._library.simt_last_words(last_words_fd)
        self._budget = step_budget
        self._apply()

    def _apply(self) -> None:
        self._library.simt_set_mode(self._mode, ctypes.c_long(self._budget))

    def findings(self) -> list[MemoryFinding]:
        """What the checks found since the last call."""
        return memory_findings.findings(self._library.simt_take_findings())

    def launches(self) -> list[Launch]:
        """The kernels launched since the last call, with counts if counting was on."""
        return counts.launches(self._library.simt_take_launches())

    def count(self, *, on: bool, sample_above: int = 0) -> None:
        """Switches the counting of memory traffic and arithmetic on or off.

        Launches of more than ``sample_above`` threads are counted by a sample of their blocks (0: never);
        their counts then say ``sampled``, and whether that is exact.
        """
        self._library.simt_sample_above(ctypes.c_ulong(sample_above))
        self._mode = (self._mode & ~COUNT) | (COUNT if on else 0)
        self._apply()

    def check(self, *, on: bool) -> None:
        """Switches the checks on or off."""
        self._mode = (self._mode & ~CHECK) | (CHECK if on else 0)
        self._apply()

    def owner(self, data_ptr: int, nbytes: int) -> Writer | None:
        """The block, thread and line that last wrote any of these bytes; None if no thread did."""
        text = self._library.simt_last_writer(ctypes.c_void_p(data_ptr), ctypes.c_size_t(nbytes))
        return memory_findings.owner(text) if text else None

    def taken(self, tensors: Sequence[torch.Tensor]) -> None:
        """Tells that who called the submission reads its results, on the stream that is current here."""
        if not self._library.simt_operator_begins():  # nothing can run beside that
            return
        for t in tensors:
            if t.is_cuda and t.numel() and t.is_contiguous():
                begin, nbytes = ctypes.c_void_p(t.data_ptr()), ctypes.c_size_t(t.nbytes)
                self._library.simt_operator_touches(b"the caller", begin, nbytes, 0)

    def error(self) -> str | None:
        """The CUDA error that the next synchronising call would raise, in CUDA's words."""
        code = self._library.simt_pending_error()
        if not code:
            return None
        return streams.FAULTS.get(code, "invalid argument" if code == 1 else "unspecified launch failure")

    def error_detail(self) -> str:
        """Why the launch was refused that this error is of; "" for other errors."""
        return str(self._library.simt_error_detail().decode(errors="replace"))

    def schedule(self, seed: int, *, no_blocks: bool = False) -> None:
        """Shuffles the order of blocks and warps by ``seed``; 0 is their own order.

        ``no_blocks``: a launch may still be refused, but no block of it runs.
        """
        self._library.simt_set_schedule(ctypes.c_uint64(seed), ctypes.c_int(no_blocks))

    @contextlib.contextmanager
    def far(self, elements: int) -> Iterator[None]:
        """Blocks launched meanwhile are numbered as if so many elements, one a thread, came before them."""
        self._library.simt_set_far(ctypes.c_uint64(elements))
        try:
            yield
        finally:
            self._library.simt_set_far(ctypes.c_uint64(0))

    @contextlib.contextmanager
    def on_second_device(self) -> Iterator[Callable[[], int]]:
        """A second device seems to exist, and is current; each has a current stream, not its default one.

        Yields where launches went: the largest of the numbers above, 0 for the current stream of device 0.
        """
        self._library.simt_pretend_devices(2, 1)
        try:
            yield self._library.simt_launched_elsewhere
        finally:
            self._library.simt_pretend_devices(1, 0)

    def change(self, number: int) -> None:
        """Takes this alternative of ``simt/alternatives.h`` from now on; 0 is the source itself."""
        self._library.simt_set_change(ctypes.c_int(number))

    def report_leaks(self) -> None:
        """From now on a finding: memory of cudaMalloc that has not been given back."""
        self._library.simt_report_leaks()

    def wait(self) -> None:
        """Runs what is queued, without raising what a synchronising call would."""
        self._library.simt_wait()

    def at_exit(self, ended: Callable[[int], None], *, crashes: bool = False) -> None:
        """Call this with the exit code if C++ code ends the process with ``exit()``.

        With ``crashes`` also if it dies of a signal, of which a player's last words tell by themselves.

        Macros that check for errors do so, and Python does not hear of it. At its own end Python comes first.
        """
        self._ended = ctypes.CFUNCTYPE(None, ctypes.c_int)(ended)  # the library holds no reference
        self._library.simt_at_exit(self._ended, ctypes.c_int(crashes))
        atexit.register(self._library.simt_at_exit, None, ctypes.c_int(0))

    def reset(self) -> None:
        """Forgets errors, findings and launches; the device works again."""
        self._library.simt_reset()


def _built_for_tvm(real: Any, build: Callable[[BuildRequest], str]) -> Callable[..., Any]:
    """``tvm_ffi.cpp.load_inline`` without nvcc."""
    signature = inspect.signature(real)

    def load_inline(*args: Any, **kwargs: Any) -> Any:
        path = build(tvm_inline.request_of(signature.bind(*args, **kwargs).arguments))
        return importlib.import_module("tvm_ffi").load_module(path)

    return load_inline


def activate(
    build: Callable[[BuildRequest], str],
    libraries: tuple[Path, Path],
    *,
    last_words_fd: int = -1,
    step_budget: int = 0,
    checked: bool = True,
) -> Runtime:
    """Gives this process a cuda device.

    ``build`` turns a request into the path of a module. ``libraries``: the
    runtime and the torch device, as :func:`..compile.compiler.libraries` prepares them. A fatal signal
    writes one line of JSON to ``last_words_fd`` (-1: nowhere). A launch is stopped when a block of it takes
    more than ``step_budget`` steps (0: no limit).
    """
    if "torch" in sys.modules:
        raise RuntimeError(
            "torch was imported before the CPU back end was activated; torch looks for its devices when "
            "it is imported, so run the file with `course run` (or call activate() first)"
        )
    runtime_path, device_path = libraries
    library = ctypes.CDLL(str(runtime_path), mode=ctypes.RTLD_GLOBAL)
    for name in ("simt_take_findings", "simt_take_launches", "simt_last_writer", "simt_error_detail"):
        getattr(library, name).restype = ctypes.c_char_p
    library.simt_memory.restype = ctypes.c_size_t
    ctypes.CDLL(str(device_path), mode=ctypes.RTLD_GLOBAL)
    runtime = Runtime(library, step_budget, checked=checked)
    ACTIVE[:] = [runtime]
    stand_ins.install(library)
    value_origins.hold(library)
    load_inline.install(build, runtime_path.with_name("libbinding.so"))
    tvm_inline.install(lambda real: _built_for_tvm(real, build))
    library.simt_last_words(last_words_fd)
    return runtime
