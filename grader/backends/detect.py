"""Which back end runs the kernels: an NVIDIA GPU (cuda) or this machine's CPU (simt)."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.util
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from grader.domain.errors import BadInputError
from grader.domain.installation import COURSE
from grader.domain.options import require_backend

DRIVERS_GPUS = Path("/proc/driver/nvidia/gpus")
CAPABILITY = (75, 76)  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR


@dataclass(frozen=True, slots=True)
class Choice:
    """The back end taken and one clause that says why."""

    name: str
    why: str


def gpu_name() -> str:
    """The first CUDA device by the driver's own word, or "" (no driver, no device)."""
    return _first_gpu()[0]


def gpu_bytes() -> int:
    """The memory of that device; 0 without one."""
    return _first_gpu()[1]


def gpu_capability() -> str:
    """The compute capability of that device, as "9.0"; "" without one."""
    return _first_gpu()[2]


@functools.cache
def _first_gpu() -> tuple[str, int, str]:
    for library in ("libcuda.so.1", "libcuda.so"):
        try:
            driver = ctypes.CDLL(library)
        except OSError:
            continue
        count, name, size = ctypes.c_int(), ctypes.create_string_buffer(128), ctypes.c_size_t()
        if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)) or not count.value:
            continue
        if driver.cuDeviceGetName(name, 128, 0) == 0:
            if driver.cuDeviceTotalMem_v2(ctypes.byref(size), 0):
                size.value = 0
            found = [ctypes.c_int(), ctypes.c_int()]
            for number, attribute in zip(found, CAPABILITY, strict=True):
                driver.cuDeviceGetAttribute(ctypes.byref(number), attribute, 0)
            capability = ".".join(str(number.value) for number in found)
            return name.value.decode(errors="replace"), size.value, capability
    return "", 0, ""


@functools.cache
def gpu_minors() -> dict[str, int]:
    """The number in the name of each GPU's device file, by UUID; {} where the driver does not tell."""
    minors = {}
    for file in DRIVERS_GPUS.glob("*/information"):
        with contextlib.suppress(OSError):
            said = dict(re.findall(r"^(GPU UUID|Device Minor):\s*(\S+)", file.read_text(), re.M))
            if said.get("GPU UUID", "?").count("?") == 0 and said.get("Device Minor", "").isdigit():
                minors[said["GPU UUID"]] = int(said["Device Minor"])
    return minors


def nvcc() -> str:
    """The path of nvcc as torch would find it, or ""."""
    for home in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        if home and (Path(home) / "bin" / "nvcc").exists():
            return str(Path(home) / "bin" / "nvcc")
    return shutil.which("nvcc") or ""


def ncu() -> str:
    """The path of Nsight Compute's ncu: on the PATH, or beside nvcc; "" without one."""
    beside = Path(nvcc()).with_name("ncu") if nvcc() else None
    return shutil.which("ncu") or (str(beside) if beside and beside.exists() else "")


@functools.cache
def torch_cuda() -> str:
    """The CUDA version that the installed torch was built with, "" for a CPU build. Imports nothing."""
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        raise BadInputError(
            f"PyTorch is not installed here; use {COURSE}, which installs it, or pip install torch."
        )
    version = Path(spec.submodule_search_locations[0]) / "version.py"
    text = version.read_text() if version.exists() else ""
    found = re.search(r"^cuda\b[^=]*=\s*['\"]([\d.]+)['\"]", text, re.M)
    return found[1] if found else ""


def choose(wanted: str) -> Choice:
    """Take the back end asked for, or for "auto" the GPU when all that it needs is there."""
    missing = _missing_for_cuda()
    if wanted == "cuda":
        if missing:
            raise BadInputError(
                f"The cuda back end cannot run here: {missing}. Without a GPU use --backend simt."
            )
        return Choice("cuda", "you asked for it")
    if wanted == "simt":
        return Choice("simt", "you asked for it")
    require_backend(wanted)
    if missing:
        return Choice("simt", missing)
    return Choice("cuda", f"found {gpu_name()} and nvcc")


def _missing_for_cuda() -> str:
    if not gpu_name():
        return "no NVIDIA GPU found"
    if not torch_cuda():
        return "the installed PyTorch is a CPU build"
    if not nvcc():
        return "nvcc is not installed"
    return ""
