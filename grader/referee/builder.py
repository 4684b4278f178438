"""Compile for a player, on the referee's side: by content, once. The player only says what it wants built.

On a GPU a player builds for itself, as torch does, what the fast build cannot.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from grader.backends import detect
from grader.backends.cuda.compile import fast_build, tools
from grader.backends.cuda.compile.host_text import CannotError
from grader.backends.extension.request import BuildRequest, Built, named
from grader.backends.simt.compile import compiler
from grader.backends.simt.compile.toolchain import CompilerFailed
from grader.domain.errors import BadInputError
from grader.domain.verdict import Status
from grader.protocol.messages import BuildReply
from grader.referee.fault import FaultError
from grader.referee.sandbox import compiler_jail

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.backends.simt.compile.warnings import Warned


class SimtBuilder:
    """Answers build requests of players on the CPU back end and remembers what each cost.

    ``variant`` "recorded": modules that also tell what their local variables hold, where that compiles.
    ``say`` is told what takes long, once on a machine.
    """

    def __init__(
        self, timeout: float = 300.0, sandbox: str = "auto", *, say: Callable[[str], None] = lambda _: None
    ) -> None:
        self.timeout, self._say = timeout, say
        self._runner = None if sandbox == "off" else compiler_jail.compile_
        self.builds: list[Built] = []
        self.requests: list[BuildRequest] = []
        self.warned: list[Warned] = []
        self.variant: compiler.Variant = "checked"

    def __call__(self, request: object) -> BuildReply:
        """Compile one ``load_inline`` request; a fault with the first error when it does not compile."""
        wanted = _read(request)
        if compiler.waits_for_headers(wanted):
            self._say(
                f"{wanted.name} needs all of PyTorch's headers. They are compiled, once on this machine."
            )
        try:
            result = self._built(wanted)
        except compiler.CompileError as error:
            raise _wrong(error) from error
        except compiler.BuildTimeout as error:
            raise _late(self.timeout) from error
        self.requests.append(wanted)
        self.warned += result.warned
        self.builds.append(Built(wanted.name, result.seconds, result.cached, result.headers))
        return BuildReply(path=str(result.path))

    def _built(self, wanted: BuildRequest) -> compiler.BuildResult:
        if self.variant != "checked":
            with contextlib.suppress(compiler.CompileError):
                return compiler.build(wanted, timeout=self.timeout, variant=self.variant, runner=self._runner)
        return compiler.build(wanted, timeout=self.timeout, runner=self._runner)


class CudaBuilder:
    """Answers build requests of players on a GPU, for a card of this compute capability ("9.0").

    ``ordinary``: let the player build everything as torch does. ``say`` is told why, where only something is.
    """

    def __init__(
        self,
        card: str,
        timeout: float = 300.0,
        sandbox: str = "auto",
        *,
        ordinary: bool = False,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.card, self.timeout, self._ordinary, self._say = card, timeout, ordinary, say
        self._run: tools.Run = tools.run_plainly if sandbox == "off" else compiler_jail.tool
        self.builds: list[Built] = []
        self.requests: list[BuildRequest] = []
        self.warned: list[Warned] = []

    def __call__(self, request: object) -> BuildReply:
        """Compile one request in seconds, or say why the player has to; a fault if the source is wrong."""
        wanted = _read(request)
        self.requests.append(wanted)
        if self._ordinary:
            return BuildReply(ordinary="it was asked for")
        try:
            built = fast_build.build(wanted, self.card, run=self._run, timeout=self.timeout)
        except fast_build.CompileError as error:
            raise _wrong(error) from error
        except compiler.BuildTimeout as error:
            raise _late(self.timeout) from error
        except (CannotError, CompilerFailed, compiler.ToolchainError) as reason:
            why = str(reason).strip().splitlines()[0]
            if not any(built.ordinary == why for built in self.builds):  # a race asks again for each process
                self._say(f"{wanted.name} is built as PyTorch does, which takes longer: {why}.")
            self.builds.append(Built(wanted.name, 0.0, cached=False, headers="full", ordinary=why))
            return BuildReply(ordinary=why)
        self.builds.append(Built(wanted.name, built.seconds, built.cached, "lean", steps=built.steps))
        return BuildReply(path=str(built.path))


def _read(request: object) -> BuildRequest:
    try:
        return BuildRequest.from_json(request)
    except ValueError as error:
        raise FaultError(Status.TAMPERED, f"The process asked for an impossible build: {error}") from error


def _wrong(error: compiler.CompileError) -> FaultError:
    where = named(error.file, error.line)
    message = f"{where}: {error.first}" if where else error.first
    return FaultError(Status.COMPILE_ERROR, message, log=error.log, file=error.file, line=error.line)


def _late(seconds: float) -> FaultError:
    # Known: a search for what would mend it would compile its like again.
    return FaultError(
        Status.TIMEOUT, f"Compiling took longer than {seconds:g} s and was stopped.", known=True
    )


def prepare_cuda(say: Callable[[str], None]) -> None:
    """Make what fast builds need once; where that fails, all builds are ordinary ones, and that is said."""
    try:
        fast_build.prepare(say)
    except (CannotError, CompilerFailed, compiler.ToolchainError) as reason:
        say(f"Extensions are built as torch does, which takes longer: {str(reason).splitlines()[0]}.")


def for_backend(
    name: str,
    seconds: float,
    sandbox: str,
    *,
    card: str = "",
    ordinary: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> SimtBuilder | CudaBuilder:
    """What compiles for players on this back end; ``card``: for which, if not for the first GPU here."""
    if name == "simt":
        return SimtBuilder(seconds, sandbox, say=say)
    return CudaBuilder(card or detect.gpu_capability(), seconds, sandbox, ordinary=ordinary, say=say)


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
