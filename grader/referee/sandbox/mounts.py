"""What a player may see of this machine: a short list of what it needs.

The system's programs and libraries, this Python with torch, the grader's own package, the one submitted file:
readable. A private /tmp, and folders named by the caller: writable. Nothing else: no home, no lessons, no
solutions, no other submission, no build cache.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from grader.backends import detect
from grader.domain.installation import ABOVE, SHIPPED, from_wheel

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
# Loader and compiler look these up; nothing in them is about people or secrets.
SYSTEM_FILES = (
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime",
    "/nix/store", "/run/opengl-driver",
)  # fmt: skip
GPU_FILES = ("/proc/driver/nvidia", "/sys", "/usr/lib/wsl", "/usr/local/nvidia", "/etc/OpenCL")
DEVICES = Path("/dev")
GPU_DEVICES = ("nvidia*", "dxg", "dri")
SECRET = ("lessons", "solutions", "tests", ".git")


@dataclass(frozen=True, slots=True)
class Mounts:
    """Paths, the same inside and outside, all of which exist.

    ``over_tmp`` are mounted above /tmp, ``hide`` are covered, ``submitted`` are the submitted ones.
    """

    read: tuple[Path, ...]
    over_tmp: tuple[Path, ...] = ()
    write: tuple[Path, ...] = ()
    hide: tuple[Path, ...] = ()
    devices: tuple[Path, ...] = ()
    submitted: tuple[Path, ...] = ()

    @property
    def system(self) -> list[Path]:
        """The system's own programs and libraries."""
        return [Path(p) for p in SYSTEM if Path(p).exists()]

    def readable(self, *more: Path) -> tuple[list[str], list[str]]:
        """The same for Landlock, which can allow but not cover: what is read whole, and what is listed only.

        Where something hidden lies in a folder, as in site-packages, its neighbours are read instead.
        """
        whole: list[str] = []
        listed: list[str] = []
        hidden = frozenset(p.resolve() for p in self.hide)
        for path in (*self.system, *self.read, *self.over_tmp, *self.submitted, *more):
            inside, folders = _around(path, hidden)
            whole += inside
            listed += folders
        return whole, listed


def mounts_for(
    backend: str, sees: tuple[Path, ...], writes: tuple[Path, ...] = (), folders: tuple[Path, ...] = ()
) -> Mounts:
    """The mounts of a player that may read ``sees`` (files) and ``folders``, and write below ``writes``."""
    gpu = backend == "cuda"
    read = [*python_files(), *_present(SYSTEM_FILES)]
    read += [*_toolkit(), *_compilers(), *_present(GPU_FILES)] if gpu else []
    if backend == "simt":
        from grader.backends.simt.compile import compiler

        read.append(compiler.runtime_library().parent)
    devices = _gpu_devices() if gpu else []
    shown = tuple(dict.fromkeys(p for p in read if not _below(p, [Path(s) for s in SYSTEM])))
    secret = [place for place in (*(ABOVE / name for name in SECRET), SHIPPED) if place.exists()]
    # By each name that it would be seen by: an environment may be known by a link.
    seen = [(p, p.resolve()) for p in (*shown, *(Path(s) for s in SYSTEM))]
    hidden = dict.fromkeys(
        p / s.relative_to(real) for s in secret for p, real in seen if s.is_relative_to(real)
    )
    return Mounts(shown, folders, tuple(writes), tuple(hidden), tuple(devices), tuple(sees))


def _gpu_devices() -> list[Path]:
    """Device files of the GPUs; of that one alone which ``CUDA_VISIBLE_DEVICES`` names by its UUID.

    Then a player can reach no other, and the driver, which looks at all that it can open, starts sooner.
    """
    devices = [path for pattern in GPU_DEVICES for path in DEVICES.glob(pattern)]
    only = detect.gpu_minors().get(os.environ.get("CUDA_VISIBLE_DEVICES", ""))
    return [p for p in devices if only is None or not re.fullmatch(rf"nvidia(?!{only}$)\d+", p.name)]


@functools.cache
def _around(path: Path, hidden: frozenset[Path]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """``path``, or where ``hidden`` lies below it all that lies beside; and the folders in between."""
    real = path.resolve()
    if not any(h.is_relative_to(real) for h in hidden):
        return (str(path),), ()
    if real in hidden:
        return (), ()
    # A link gives no right to what it leads to: that is allowed by its own path, or not.
    below = [_around(child, hidden) for child in sorted(real.iterdir()) if not child.is_symlink()]
    return tuple(w for whole, _ in below for w in whole), (str(real), *(x for _, more in below for x in more))


@functools.cache
def python_files() -> tuple[Path, ...]:
    """This interpreter, its packages, and the grader; never a folder that holds the course as a whole."""
    places = [Path(sys.prefix), Path(sys.base_prefix), Path(os.path.realpath(sys.executable)).parents[1]]
    # Of sys.path only packages: the folder of a script that calls the grader may hold anything.
    places += [Path(p) for p in sys.path if Path(p).name in ("site-packages", "dist-packages")]
    for package in ("torch", "numpy"):
        spec = importlib.util.find_spec(package)
        places += [Path(p).parent for p in (spec.submodule_search_locations or ())] if spec else []
    places = [p for p in places if p.exists() and p != Path("/") and not _holds_checkout(p)]
    # Outermost first, so that a folder inside another one is not mounted twice.
    kept: list[Path] = []
    for path in sorted(set(places), key=lambda p: len(p.parts)):
        if not _below(path, kept):
            kept.append(path)
    return (*kept, ABOVE / "grader")


def _toolkit() -> list[Path]:
    """Where nvcc, ncu and the driver's libraries may lie outside of /usr."""
    names = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda", "/opt/nvidia"]
    names += os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    found = [p for n in names if n and n != "/" for p in (Path(n), Path(n).resolve())]
    return [p for p in found if p.exists() and not _holds_checkout(p)]


def _compilers() -> list[Path]:
    """Where the host compiler lies that nvcc, ninja and Triton call; often /usr, then nothing is added."""
    words = [os.environ.get(name) or "" for name in ("CC", "CXX", "CUDAHOSTCXX")]
    found = [shutil.which(word) for word in (*words, "gcc", "g++", "cc", "c++") if word]
    prefixes = [folder.parents[1] for name in found if name for folder in (Path(name), Path(name).resolve())]
    closed = {Path("/"), Path.home(), Path("/root"), Path("/home")}
    return [p for p in prefixes if p not in closed and not _holds_checkout(p)]


def _holds_checkout(folder: Path) -> bool:
    """Whether the course as a whole would be seen; of a package what is secret is covered where it lies."""
    return not from_wheel() and ABOVE.is_relative_to(folder.resolve())


def _present(names: tuple[str, ...]) -> list[Path]:
    return [Path(n) for n in names if Path(n).exists()]


def _below(path: Path, places: list[Path]) -> bool:
    return any(path.is_relative_to(p) for p in places)
