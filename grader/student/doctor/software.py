"""Python, torch, compilers and tools: found without importing torch."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import sys
import sysconfig
from pathlib import Path

from grader.backends import detect
from grader.domain import support
from grader.domain.errors import BadInputError
from grader.domain.installation import COURSE, document, from_wheel
from grader.domain.lessons import course_root
from grader.student.doctor import toolchain_fit
from grader.student.doctor.report_line import ReportLine, State, output_of

CPU_BUILD = "pip install --force-reinstall torch --index-url https://download.pytorch.org/whl/cpu"
TESTED_SYSTEM, EMULATED_SYSTEM = "Linux x86_64", "Linux aarch64"


def pip() -> str:
    """How pip is called for the Python that runs the course."""
    return f"{sys.executable or 'python3'} -m "


def system() -> ReportLine:
    """The operating system and processor."""
    found = f"{platform.system()} {platform.machine()}"
    inside = surroundings()
    if inside == "WSL 1":
        fix = "in PowerShell: wsl --set-version Ubuntu 2 (the name is what wsl -l shows)"
        return ReportLine("system", "no", f"{found} in WSL 1, which is not Linux enough for the sandbox", fix)
    if inside == "WSL 2" and course_root().is_relative_to("/mnt"):
        fix = "clone into your home folder of Linux: cd ~"
        return ReportLine("system", "--", f"{found} in {inside}; a Windows drive is many times slower", fix)
    if found == TESTED_SYSTEM:
        return ReportLine("system", "ok", f"{found}{f', in {inside}' if inside else ''}")
    if found == EMULATED_SYSTEM:
        return ReportLine("system", "--", f"{found}; the course was tried on it in an emulator only")
    if platform.system() == "Linux":
        return ReportLine("system", "--", f"{found}: the CPU back end knows x86-64 and aarch64")
    where = f"{document('start')}, Windows, screen by screen"
    fix = f"use a Linux machine, a container, or WSL 2 on Windows: {where}"
    return ReportLine("system", "no", f"{found}: kernels run on the CPU on Linux only", fix)


def surroundings(root: Path = Path("/")) -> str:
    """What this Linux runs in, as far as it can be seen: "WSL 1", "WSL 2", "Colab", "a container", or ""."""
    kernel = _text(root / "proc/sys/kernel/osrelease").strip()
    if "microsoft" in kernel.lower():
        return "WSL 2" if "WSL2" in kernel or "microsoft-standard" in kernel else "WSL 1"
    if os.environ.get("COLAB_RELEASE_TAG"):
        return "Colab"
    return "a container" if any((root / f).exists() for f in (".dockerenv", "run/.containerenv")) else ""


def python() -> ReportLine:
    """The Python that runs this, and its headers, which every extension is compiled against."""
    version = platform.python_version()
    if not (Path(sysconfig.get_paths()["include"]) / "Python.h").exists():
        short = ".".join(version.split(".")[:2])
        fix = f"sudo apt-get install python{short}-dev (Fedora: sudo dnf install python3-devel)"
        return ReportLine("Python", "no", f"{version}, without its headers (Python.h)", fix)
    new = toolchain_fit.tried("Python", version, support.PYTHON)
    return new or ReportLine("Python", "ok", f"{version} ({sys.executable})")


def torch_version() -> str:
    """The installed torch's version, or ""."""
    spec = importlib.util.find_spec("torch")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        text = _text(Path(folder) / "version.py")
        found = re.search(r"__version__ = ['\"]([^'\"]+)", text)
        return found[1] if found else "unknown"
    return ""


def torch() -> ReportLine:
    """The installed torch, and whether its build fits the machine."""
    version = torch_version()
    if not version and from_wheel():
        return ReportLine("torch", "no", "not installed", f"{pip()}pip install torch")
    if not version:
        return ReportLine(
            "torch", "--", f"not installed yet; the first use of {COURSE} installs it into .venv"
        )
    if support.TORCH.place(version) < 0:
        oldest = ".".join(map(str, support.TORCH.oldest))
        return ReportLine(
            "torch", "no", f"{version} is too old: {oldest} or newer", f"{pip()}pip install -U torch"
        )
    cuda, gpu = _torch_cuda(), detect.gpu_name()
    if cuda and not gpu:
        return ReportLine(
            "torch", "no",
            f"{version} is a CUDA build ({cuda}), but there is no GPU; the CPU back end needs the CPU build",
            pip() + CPU_BUILD,
        )  # fmt: skip
    if gpu and not cuda:
        fix = f"{pip()}pip install --force-reinstall torch (or stay: everything but times works on the CPU)"
        return ReportLine("torch", "--", f"{version} is a CPU build, so the GPU is not used", fix)
    if unfit := toolchain_fit.card_of_torch(version) if cuda else None:
        return unfit
    new = toolchain_fit.tried("torch", version, support.TORCH)
    return new or ReportLine("torch", "ok", f"{version}, {'CUDA ' + cuda if cuda else 'CPU build'}")


def nvcc() -> ReportLine | list[ReportLine]:
    """NVIDIA's compiler, and whether it goes with torch's CUDA, the driver, the card and g++."""
    path, cuda, gpu = detect.nvcc(), _torch_cuda(), detect.gpu_name()
    if not path:
        if gpu:
            fix = f"install the CUDA toolkit{' ' + cuda if cuda else ''}: developer.nvidia.com/cuda-downloads"
            return ReportLine("nvcc", "no", "not found, so the GPU cannot be used", fix)
        return ReportLine("nvcc", "--", "not found; without a GPU it is not needed")
    found = re.search(r"release (\d+\.\d+)", output_of(path, "--version"))
    version = found[1] if found else "unknown"
    if cuda and found and version.split(".")[0] != cuda.split(".")[0]:
        fix = f"install CUDA toolkit {cuda}, or point CUDA_HOME to one"
        return ReportLine("nvcc", "no", f"{version} ({path}), but torch was built with CUDA {cuda}", fix)
    checks = (toolchain_fit.driver(version), toolchain_fit.card_of_nvcc(path, version),
              toolchain_fit.host_compiler(path, version), toolchain_fit.wanted_cards(),
              toolchain_fit.tried("nvcc", version, support.CUDA))  # fmt: skip
    if gpu and (lines := [line for line in checks if line]):
        return lines
    against = (
        f", torch has CUDA {cuda}" if cuda else ", not used: torch is a CPU build" if torch_version() else ""
    )
    return ReportLine("nvcc", "ok", f"{version} ({path}){against}")


def compiler() -> ReportLine:
    """The C++ compiler that the CPU back end takes."""
    seen = ""
    for command in filter(None, (os.environ.get("CXX"), "g++", "clang++")):
        if shutil.which(command) is None:
            continue
        first = (output_of(command, "--version").splitlines() or [""])[0]
        number = re.search(r"\d+", output_of(command, "-dumpversion"))
        if number and int(number[0]) >= (12 if "clang" in first else 11):
            versions = support.CLANG if "clang" in first else support.GCC
            new = toolchain_fit.tried("C++ compiler", number[0], versions)
            new = new or (toolchain_fit.shared_library(command) if sys.platform == "linux" else None)
            return new or ReportLine("C++ compiler", "ok", first)
        seen = seen or f"{first or command} is too old; "
    fix = "sudo apt-get install g++ (Fedora: sudo dnf install gcc-c++; macOS: xcode-select --install)"
    return ReportLine("C++ compiler", "no", f"{seen}g++ 11 or clang++ 12, or newer, is needed", fix)


def ninja() -> ReportLine:
    """Ninja, which torch's own load_inline needs."""
    beside = Path(sys.executable).with_name("ninja")
    path = shutil.which("ninja") or (str(beside) if beside.exists() else "")
    if path:
        return ReportLine("ninja", "ok", f"{output_of(path, '--version').strip()} ({path})")
    if not torch_version():
        return ReportLine("ninja", "--", "not installed yet; comes with torch")
    state: State = "no" if detect.gpu_name() else "--"
    return ReportLine("ninja", state, "not found; needed on a GPU only", f"{pip()}pip install ninja")


def notebooks() -> ReportLine:
    """Jupyter, for ``course lab``."""
    for name in ("jupyterlab", "notebook"):
        if importlib.util.find_spec(name):
            return ReportLine("Jupyter", "ok", name)
    if from_wheel():
        return ReportLine("Jupyter", "--", "not installed", f"{pip()}pip install jupyterlab ipykernel")
    return ReportLine("Jupyter", "--", f"not installed; {COURSE} lab installs it when it is first used")


def _torch_cuda() -> str:
    try:
        return detect.torch_cuda()
    except BadInputError:
        return ""


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
