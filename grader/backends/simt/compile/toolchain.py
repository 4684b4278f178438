"""The C++ compiler, the installed torch, and the flags that bring the two together."""

from __future__ import annotations

import functools
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
INCLUDE = HERE / "include"
CSRC = HERE / "csrc"
LEAN = HERE.parent / "lean"  # torch's headers with less in them, for both back ends
BIND = HERE.parent / "bind"  # Python functions without pybind11's headers
HEADERS = (INCLUDE, LEAN, BIND)
MACHINE = platform.machine()  # machines of several kinds may share a home
X86_64 = MACHINE == "x86_64"


class ToolchainError(RuntimeError):
    """Something has to be installed first; the message is one sentence that says what and how."""


class BuildTimeout(RuntimeError):  # noqa: N818 - a name of the public interface
    """The compiler took longer than allowed."""


class CompilerFailed(RuntimeError):  # noqa: N818 - carries the log, is not an error of ours
    """The compiler refused; the message is its whole output."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C++ compiler: how to call it and which it is."""

    command: str
    version: str
    major: int

    @property
    def is_clang(self) -> bool:
        """Whether it takes clang's flags."""
        return "clang" in self.version


@dataclass(frozen=True, slots=True)
class Torch:
    """The installed torch, found without importing it."""

    folder: Path
    version: str
    standard: str
    cuda: str  # the version that it was built with, "" for a CPU build

    @property
    def include(self) -> Path:
        """Torch's headers."""
        return self.folder / "include"


@functools.cache
def installed() -> Torch:
    """The installed torch, of whichever kind."""
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        raise ToolchainError(
            "PyTorch is not installed; get it with: "
            "pip install torch --index-url https://download.pytorch.org/whl/cpu"
        )
    folder = Path(next(iter(spec.submodule_search_locations)))
    text = (folder / "version.py").read_text()
    version = re.search(r"__version__ = ['\"]([^'\"]+)", text)
    cuda = re.search(r"^cuda[^=\n]*= ['\"]([^'\"]+)", text, re.M)
    extension = (folder / "utils" / "cpp_extension.py").read_text()
    standards = re.findall(r"-std=(c\+\+\d\d)", extension)
    found = version[1] if version else "unknown"
    return Torch(folder, found, max(standards, default="c++17"), cuda[1] if cuda else "")


def torch() -> Torch:
    """The installed torch; refuses one that simt cannot work with."""
    if installed().cuda:
        raise ToolchainError(
            "the installed PyTorch is a CUDA build, and running CUDA on the CPU needs the CPU build; get it, "
            "best in an environment of its own, with: pip install torch --index-url https://download.pytorch.org/whl/cpu"
        )
    return installed()


@functools.cache
def compiler() -> Compiler:
    """The C++ compiler: ``$CXX``, or g++, or clang++."""
    if sys.platform != "linux":
        raise ToolchainError(
            f"running CUDA on the CPU works on Linux only so far, not on {platform.system()}; "
            "use a container, WSL or a Linux machine"
        )
    for command in filter(None, (os.environ.get("CXX"), "g++", "clang++")):
        if shutil.which(command) is None:
            continue
        version = subprocess.run([command, "--version"], capture_output=True, text=True, check=False).stdout
        number = subprocess.run([command, "-dumpversion"], capture_output=True, text=True, check=False).stdout
        major = int(number.split(".")[0] or 0)
        if major >= (12 if "clang" in version else 11):
            return Compiler(command, version.splitlines()[0], major)
    raise ToolchainError(
        "a C++ compiler is needed (g++ 11 or clang++ 12, or newer); get it with: sudo apt-get install g++"
        " (Debian, Ubuntu), sudo dnf install gcc-c++ (Fedora), xcode-select --install (macOS)"
    )


def python_include() -> Path:
    """Python's own headers."""
    folder = Path(sysconfig.get_paths()["include"])
    if not (folder / "Python.h").exists():
        raise ToolchainError(
            f"Python's headers are missing (no {folder / 'Python.h'}); get them with: "
            f"sudo apt-get install python{sys.version_info.major}.{sys.version_info.minor}-dev"
        )
    return folder


def debugging() -> bool:
    """Whether a debugger is to find a kernel's locals: ``COURSE_DEBUG``. Its builds are kept apart."""
    return bool(os.environ.get("COURSE_DEBUG"))


def common_flags() -> list[str]:
    """What every compilation against torch has."""
    found = torch()
    flags = [
        "-fPIC",
        f"-std={found.standard}",
        "-g3" if debugging() else "-g1",
        "-fvisibility=hidden",
        "-DTORCH_API_INCLUDE_EXTENSION_H",
    ]
    if compiler().is_clang:
        flags += ["-gdwarf-4"]
    else:  # unique symbols would give two modules with an equal template kernel one __shared__ variable
        flags += ["-pipe", "-fno-gnu-unique"]
    for folder in (found.include, found.include / "torch/csrc/api/include", python_include()):
        flags += ["-isystem", str(folder)]
    return flags


# Functions of the C library that touch memory: a module's calls of them come to the runtime.
COPIES = ("memcpy", "memmove", "memset", "memcmp")
# Of memory: malloc, new, new[] and what gives it back, with a size and without, of a wide alignment too.
HEAP = (
    "malloc", "free",
    *(f"_Zn{kind}m{wide}" for kind in "wa" for wide in ("", "St11align_val_t")),
    *(f"_Zd{kind}Pv{size}{wide}" for kind in "la" for size in ("", "m") for wide in ("", "St11align_val_t")),
)  # fmt: skip
# Functions that touch memory which they get by pointer: the module's calls of them come to the runtime.
WRAPPED = (
    *COPIES,
    *HEAP,
    "printf",
    "vprintf",
    "puts",
    *(f"{name}{suffix}" for name in ("frexp", "modf", "remquo", "sincos") for suffix in ("", "f", "l")),
    *(f"lgamma{suffix}_r" for suffix in ("", "f", "l")),
)
WRAPS = tuple(f"-Wl,--wrap={name}" for name in WRAPPED)


def _heap_flags() -> list[str]:
    """A heap may be full, and then new gives NULL; and no call of it is left out or made another one."""
    if not compiler().is_clang:
        return ["-fno-builtin-malloc", "-fno-builtin-free", "-fcheck-new", "-fno-allocation-dce"]
    return ["-fno-builtin-malloc", "-fno-builtin-free", "-fno-delete-null-pointer-checks"]


def checked_flags() -> list[str]:
    """Instrumentation: the compiler calls the runtime at every memory access and basic block."""
    flags = [
        "-Og" if debugging() else "-O1",
        "-fsanitize=thread,signed-integer-overflow,return",
        "-fstack-clash-protection",  # a frame larger than a thread's stack does not reach another one's
        *_heap_flags(),
    ]
    # Neither made of a loop nor written out in place: calls of these come to the runtime.
    flags += [f"-fno-builtin-{name}" for name in COPIES]
    if compiler().is_clang:  # without bounds: that cuts blocks in pieces, a tiled matmul takes twice as long
        return [
            *flags,
            "-fsanitize-coverage=trace-pc,no-prune",
            "-mllvm",
            "-tsan-instrument-read-before-write=1",
            "-mllvm",
            "-tsan-distinguish-volatile=1",
            "-mllvm",
            "-tsan-instrument-func-entry-exit=0",
        ]
    unheard = ["--param=tsan-instrument-func-entry-exit=0"] if compiler().major >= 12 else []
    copies = ["-mmemcpy-strategy=libcall:-1:align", "-mmemset-strategy=libcall:-1:align"] if X86_64 else []
    # Scalar replacement would split the load of a float4 into four.
    return [*flags, "-fsanitize=bounds", "-fsanitize-coverage=trace-pc", "-fno-tree-sra", "-fno-ipa-sra",
            "--param=tsan-distinguish-volatile=1", *copies, *unheard]  # fmt: skip


def fast_flags() -> list[str]:
    """No instrumentation. Nothing is contracted to FMA: the results are those of the checked build."""
    return ["-O3", "-DSIMT_FAST", "-ffp-contract=off", "-fno-semantic-interposition", *_heap_flags()]


def link_flags() -> list[str]:
    """For a shared object that uses torch."""
    fast = ["-fuse-ld=gold"] if shutil.which("ld.gold") and not compiler().is_clang else []
    lib = torch().folder / "lib"
    return ["-shared", *fast, f"-L{lib}", "-ltorch_python", "-ltorch_cpu", "-lc10", "-Wl,-Bsymbolic", *WRAPS]


def compile_(arguments: list[str], timeout: float = 900.0) -> str:
    """Runs the compiler and answers what it said; ``CompilerFailed`` with that, or ``BuildTimeout``."""
    environment = os.environ | {"LC_ALL": "C"}
    try:
        done = subprocess.run(
            [compiler().command, *arguments],
            capture_output=True, text=True, errors="replace", timeout=timeout, env=environment, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise BuildTimeout(f"the compiler was stopped after {timeout:.0f} seconds") from None
    if done.returncode:
        raise CompilerFailed(done.stderr or f"the compiler ended with code {done.returncode}")
    return done.stderr
