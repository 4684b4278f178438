"""The library that runs kernels. It knows nothing of torch: one of each compiler serves all versions."""

from __future__ import annotations

import functools
import shutil
from typing import TYPE_CHECKING

from grader.backends.simt.compile import build_cache, toolchain

if TYPE_CHECKING:
    from pathlib import Path

BUFFER, RUNTIME = "libsimt_shared.so", "libsimt.so"


@functools.cache
def fingerprint() -> str:
    """Changes with the text of the runtime."""
    texts = [p.read_bytes() for p in sorted(toolchain.CSRC.iterdir())]
    return build_cache.digest(*texts, (toolchain.INCLUDE / "simt" / "abi.h").read_bytes())


def _made(name: str, source: str, *libraries: Path) -> Path:
    compiler = toolchain.compiler()
    key = build_cache.digest(fingerprint(), toolchain.MACHINE, compiler.command, compiler.version)
    folder = build_cache.root() / f"runtime-{key}"
    arguments = ["-O2", "-g1", "-fPIC", "-shared", "-std=c++20", "-pthread", "-w", "-fvisibility=hidden"]
    arguments += [
        str(toolchain.CSRC / source),
        f"-Wl,-soname,{name}",
        "-Wl,-rpath,$ORIGIN",
        *map(str, libraries),
    ]
    return build_cache.once(folder / name, lambda out: toolchain.compile_([*arguments, "-o", str(out)]))


def buffer(folder: Path) -> Path:
    """The library that holds ``extern __shared__`` memory, in this folder."""
    # Asked for only where the copy is not there: a player in its cage sees this folder and not the other.
    return build_cache.once(folder / BUFFER, lambda out: _copy(_made(BUFFER, "shared_buffer.cpp"), out))


def runtime(folder: Path) -> Path:
    """The library that runs kernels, in this folder, beside the other one; built if it is not there."""
    beside = buffer(folder)
    return build_cache.once(folder / RUNTIME, lambda out: _copy(_made(RUNTIME, "runtime.cpp", beside), out))


def _copy(source: Path, out: Path) -> None:
    shutil.copyfile(source, out)
