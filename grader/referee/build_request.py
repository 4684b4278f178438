"""What a player asks to have built, as the referee reads it, and the faults that building ends in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.backends.extension.request import BuildRequest, named
from grader.domain.verdict import Status
from grader.referee.fault import FaultError

if TYPE_CHECKING:
    from grader.backends.simt.compile import compiler


def read(request: object) -> BuildRequest:
    """What a player asks for, checked."""
    try:
        return BuildRequest.from_json(request)
    except ValueError as error:
        raise FaultError(
            Status.TAMPERED, f"The submission's process asked for an impossible build: {error}"
        ) from error


def wrong(error: compiler.CompileError) -> FaultError:
    """The fault of a source that does not compile, with its first error."""
    where = named(error.file, error.line)
    message = f"{where}: {error.first}" if where else error.first
    return FaultError(Status.COMPILE_ERROR, message, log=error.log, file=error.file, line=error.line)


def late(seconds: float) -> FaultError:
    """The fault of a source that compiled for longer than that."""
    # Known: a search for what would mend it would compile its like again.
    return FaultError(
        Status.TIMEOUT, f"Compiling took longer than {seconds:g} s and was stopped.", known=True
    )
