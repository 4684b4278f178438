"""Compiling in the process itself, for a student's own files: no sandbox, no referee."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.backends.simt.compile import compiler

if TYPE_CHECKING:
    from pathlib import Path

STEPS = 2_000_000_000  # of one block; its launch is then stopped


def build(request: compiler.BuildRequest) -> str:
    """The module's path; RuntimeError with the compiler's log, as torch raises it."""
    try:
        return str(compiler.build(request).path)
    except compiler.CompileError as error:
        at = f"{error.file}:{error.line}: " if error.line else ""
        text = f"Error building extension '{request.name}': {at}{error.first}\n{error.log}"
        raise RuntimeError(text) from None


def libraries() -> tuple[Path, Path]:
    """The runtime and the torch device that the process loads."""
    return compiler.libraries()
