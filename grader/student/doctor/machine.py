"""The GPU and its driver, the profiler's permission, the sandbox, disk, cache and terminal."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import sys
import time
from pathlib import Path

from grader.backends import detect
from grader.domain import workspace
from grader.domain.cache import cache_folder
from grader.domain.installation import COURSE, from_wheel
from grader.domain.lessons import course_root
from grader.domain.version import __version__
from grader.student.doctor.report_line import ReportLine, output_of

NEEDED_GB = 2.0
MAX_SCAN_S = 0.7
DRIVER = Path("/proc/driver/nvidia")


def gpu() -> ReportLine:
    """The GPU by the driver's own word, with driver and CUDA versions."""
    name = detect.gpu_name()
    if name:
        return ReportLine(
            "GPU", "ok", f"{name}, driver {_driver() or 'unknown'}, for CUDA up to {driver_cuda()}"
        )
    if DRIVER.exists() or shutil.which("nvidia-smi"):
        why = (output_of("nvidia-smi", "-L").strip().splitlines() or ["no device answers"])[0]
        fix = (
            "restart, or reload the driver, until nvidia-smi lists it; in a container: docker run --gpus all"
        )
        return ReportLine("GPU", "no", f"there is a driver, but {why[:70]}", fix)
    return ReportLine("GPU", "--", "none found: kernels run on the CPU back end, every access checked")


def _driver() -> str:
    try:
        found = re.search(r"\b(\d+\.\d+(?:\.\d+)?)\b", (DRIVER / "version").read_text())
    except OSError:
        return ""
    return found[1] if found else ""


def driver_cuda() -> str:
    """The newest CUDA version that the driver runs, as "13.0"; "unknown" without one."""
    version = ctypes.c_int()
    try:
        ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version))
    except (OSError, AttributeError):
        return "unknown"
    return f"{version.value // 1000}.{version.value % 1000 // 10}"


def ncu() -> ReportLine:
    """Nsight Compute, and whether this user may read the GPU's counters."""
    path = detect.ncu()
    if not detect.gpu_name():
        return ReportLine("ncu", "--", "without a GPU not needed: the CPU back end counts what ncu would")
    if not path:
        return ReportLine(
            "ncu", "--", "not found; times work without it", "install nsight-compute of the CUDA toolkit"
        )
    refusal = counters_refused()
    if refusal:
        return ReportLine("ncu", "--", f"{path}; {refusal}", COUNTERS)
    return ReportLine("ncu", "ok", f"{path}; counters are permitted")


COUNTERS = (
    "sudo ncu; or an administrator writes options nvidia NVreg_RestrictProfilingToAdminUsers=0 into "
    "/etc/modprobe.d/nvidia.conf and restarts; in a container: --cap-add SYS_ADMIN"
)


def counters_refused(params: Path = DRIVER / "params", status: Path = Path("/proc/self/status")) -> str:
    """Why the driver keeps its counters from this user, "" if it does not (or does not say)."""
    try:
        restricted = re.search(r"^RmProfilingAdminOnly: 1", params.read_text(), re.M)
    except OSError:
        return ""
    if not restricted:
        return ""
    try:
        found = re.search(r"^CapEff:\s*([0-9a-f]+)", status.read_text(), re.M)
    except OSError:
        found = None
    if found and int(found[1], 16) >> 21 & 1:  # CAP_SYS_ADMIN
        return ""
    return "the driver keeps its counters for administrators (ERR_NVGPUCTRPERM)"


def sandbox() -> list[ReportLine]:
    """The layers around a submission's process."""
    from grader.referee.sandbox import layers

    fixes = {
        "bubblewrap": "sudo apt-get install bubblewrap; in a container: --security-opt seccomp=unconfined, "
        "or grade only files that you trust",
        "landlock": "a Linux kernel from 5.13 on with landlock; the other layers do the same work",
        "seccomp": "a kernel with seccomp filters",
        "watcher": "a Linux machine",
    }
    found = layers()
    off = [layer for layer in found if not layer.active]
    lines = [ReportLine("sandbox", "ok", "active: " + ", ".join(x.name for x in found if x.active))]
    return lines + [ReportLine("sandbox", "--", f"{x.name}: {x.why}", fixes.get(x.name, "")) for x in off]


def disk() -> ReportLine:
    """Free space where the cache lies."""
    folder = cache_folder()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free / 1e9
    if free < NEEDED_GB:
        fix = "free some space, or put the cache elsewhere: export COURSE_CACHE=/path/on/a/larger/disk"
        lack = f"{free:.1f} GB free at {folder}; what is compiled needs {NEEDED_GB:g} GB"
        return ReportLine("disk", "no", lack, fix)
    return ReportLine("disk", "ok", f"{free:.0f} GB free")


def cache() -> ReportLine:
    """What compiled files take up. A large cache is looked at for a moment only."""
    folder, begun, size, whole = cache_folder(), time.monotonic(), 0, True
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                size += os.lstat(f"{where}/{name}").st_size
            except OSError:
                continue
        if time.monotonic() - begun > MAX_SCAN_S:
            whole = False
            break
    if not folder.exists():
        return ReportLine("cache", "ok", f"empty ({folder}); the first check fills it, about a minute")
    if not os.access(folder, os.W_OK):
        return ReportLine(
            "cache", "no", f"{folder} cannot be written to", "export COURSE_CACHE=/a/folder/of/yours"
        )
    amount = f"{'' if whole else 'more than '}{size / 1e6:.0f} MB"
    return ReportLine("cache", "ok", f"{amount} in {folder}; it may be deleted at any time")


def course() -> ReportLine:
    """The course's folder, or that of the student's files where the course is a package."""
    if from_wheel():
        mine = workspace.here()
        if mine is None:
            sentence = f"installed ({__version__}); no exercises are laid out here"
            return ReportLine("course", "--", sentence, f"{COURSE} start my-course, then cd my-course")
        return ReportLine("course", "ok", f"installed ({__version__}); your exercises: {mine}")
    root = course_root()
    if os.access(root, os.W_OK):
        return ReportLine("course", "ok", str(root))
    return ReportLine(
        "course", "no", f"{root} cannot be written to", "clone the course into a folder of your own"
    )


def terminal() -> ReportLine:
    """Width, encoding and colour of the terminal."""
    encoding = (getattr(sys.stdout, "encoding", "") or "").lower().replace("-", "")
    if encoding not in ("utf8", ""):
        return ReportLine("terminal", "--", f"its encoding is {sys.stdout.encoding}", "export LC_ALL=C.UTF-8")
    if not sys.stdout.isatty():
        return ReportLine("terminal", "ok", "output goes to a file or a pipe: plain text, 100 columns")
    width = shutil.get_terminal_size().columns
    if width < 80:
        return ReportLine(
            "terminal", "--", f"{width} columns; tables are made for 80", "make the window wider"
        )
    colour = "no colour" if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else "colour"
    return ReportLine("terminal", "ok", f"{width} columns, {colour}")
