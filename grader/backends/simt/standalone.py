"""A plain CUDA program, without torch: compiled with all instrumentation, to be called through ctypes."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.backends.simt.compile import library, toolchain
from grader.backends.simt.compile.rewrite import registration, rewrite
from grader.backends.simt.runtime import counts, memory_findings, recordings

if TYPE_CHECKING:
    from pathlib import Path

    from grader.protocol.messages import Launch, MemoryFinding

Text = tuple[str, str]  # (name for the reports, source)


@dataclass(frozen=True)
class Program:
    """A compiled program and the runtime that it is linked to."""

    runtime: Path
    module: Path


def compile_program(texts: list[Text], folder: Path) -> Program:
    """Compiles the texts as one source into ``folder``, which must stay: lines are looked up in its files.

    Functions to be called are ``extern "C"`` with default visibility. Raises ``CompilerFailed``.
    """
    parts = [f'#line 1 "{name}"\n{rewrite(text)}\n' for name, text in texts]
    head = f"#include <cuda_runtime.h>\n{registration([text for _, text in texts])}\n"
    source, objects, module = folder / "program.cpp", folder / "program.o", folder / "program.so"
    source.write_text(head + "".join(parts))
    buffer, runtime = library.buffer(folder), library.runtime(folder)
    unique = [] if toolchain.compiler().is_clang else ["-fno-gnu-unique"]
    flags = [*toolchain.checked_flags(), *unique, "-std=c++20", "-fPIC", "-g1", "-w", "-fvisibility=hidden"]
    toolchain.compile_([*flags, f"-I{toolchain.INCLUDE}", "-c", str(source), "-o", str(objects)])
    # Without -fsanitize here: the runtime, and not the sanitizer's library, hears of the accesses.
    link = ["-shared", str(objects), "-o", str(module), str(runtime), str(buffer), f"-Wl,-rpath,{folder}"]
    toolchain.compile_([*link, *toolchain.WRAPS])
    return Program(runtime, module)


class Recording:
    """A program loaded into this process, with checks on, whose launches can be recorded."""

    def __init__(self, program: Program) -> None:
        self._runtime = ctypes.CDLL(str(program.runtime), mode=ctypes.RTLD_GLOBAL)
        self._runtime.simt_take_findings.restype = ctypes.c_char_p
        self._runtime.simt_set_mode(1, ctypes.c_long(0))
        self.recorder = recordings.Recorder(self._runtime)
        self.functions = ctypes.CDLL(str(program.module))

    def findings(self) -> list[MemoryFinding]:
        """What the checks have found since the last call; the device works again."""
        found = memory_findings.findings(self._runtime.simt_take_findings())
        self._runtime.simt_reset()
        return found


class Counting:
    """A program loaded into this process, with counting on and checks off."""

    def __init__(self, program: Program) -> None:
        self._runtime = ctypes.CDLL(str(program.runtime), mode=ctypes.RTLD_GLOBAL)
        self._runtime.simt_take_launches.restype = ctypes.c_char_p
        self._runtime.simt_set_mode(2, ctypes.c_long(0))
        self.functions = ctypes.CDLL(str(program.module))

    def sample_above(self, threads: int) -> None:
        """Launches of more threads are counted by a sample (0: never)."""
        self._runtime.simt_sample_above(ctypes.c_ulong(threads))

    def launches(self) -> list[Launch]:
        """The launches since the last call, with their counts."""
        return counts.launches(self._runtime.simt_take_launches())
