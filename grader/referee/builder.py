"""Compile for a player, on the referee's side: by content, once. The player only says what it wants built."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.backends.simt.compile import compiler
from grader.backends.simt.request import BuildRequest, Built, named
from grader.domain.errors import BadInputError
from grader.domain.verdict import Status
from grader.protocol.messages import BuildReply
from grader.referee.fault import FaultError
from grader.referee.sandbox import compiler_jail

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.backends.simt.compile.warnings import Warned


class SimtBuilder:
    """Answers build requests of players on the CPU back end and remembers what each cost."""

    def __init__(self, timeout: float = 300.0, sandbox: str = "auto") -> None:
        self.timeout = timeout
        self._runner = None if sandbox == "off" else compiler_jail.compile_
        self.builds: list[Built] = []
        self.requests: list[BuildRequest] = []
        self.warned: list[Warned] = []

    def __call__(self, request: object) -> BuildReply:
        """Compile one ``load_inline`` request; a fault with the first error when it does not compile."""
        try:
            wanted = BuildRequest.from_json(request)
        except ValueError as error:
            raise FaultError(
                Status.TAMPERED, f"The process asked for an impossible build: {error}"
            ) from error
        try:
            result = compiler.build(wanted, timeout=self.timeout, runner=self._runner)
        except compiler.CompileError as error:
            where = named(error.file, error.line)
            message = f"{where}: {error.first}" if where else error.first
            raise FaultError(
                Status.COMPILE_ERROR, message, log=error.log, file=error.file, line=error.line
            ) from error
        except compiler.BuildTimeout as error:
            message = f"Compiling took longer than {self.timeout:g} s and was stopped."
            raise FaultError(Status.TIMEOUT, message) from error
        self.requests.append(wanted)
        self.warned += result.warned
        self.builds.append(Built(wanted.name, result.seconds, result.cached, result.headers))
        return BuildReply(path=str(result.path))


def is_prepared() -> bool:
    """Whether the CPU back end was built here before. Without a compiler it was not."""
    try:
        return compiler.is_prepared()
    except compiler.ToolchainError:
        return False


def prepare(say: Callable[[str], None]) -> None:
    """Build what the CPU back end needs once for all submissions, saying so."""
    try:
        ready = compiler.is_prepared()
    except compiler.ToolchainError as error:
        raise BadInputError(str(error)) from error
    if not ready:
        say("First use on this machine: compiling the CPU back end and PyTorch's headers. This happens once.")
        try:
            seconds = compiler.prepare(say)
        except compiler.ToolchainError as error:
            raise BadInputError(str(error)) from error
        say(f"Ready after {seconds:.0f} s; from now on this step is skipped.")
