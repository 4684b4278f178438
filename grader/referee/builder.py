"""Compile for a player, on the referee's side: by content, once. The player only says what it wants built."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from grader.backends import detect
from grader.backends.extension.request import BuildRequest, Built
from grader.backends.simt.compile import compiler
from grader.domain.errors import BadInputError
from grader.protocol.messages import BuildReply
from grader.referee import build_request
from grader.referee.sandbox import compiler_jail

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.backends.simt.compile.warnings import Warned
    from grader.referee.cuda_builder import CudaBuilder


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
        wanted = build_request.read(request)
        if compiler.waits_for_headers(wanted):
            self._say(
                f"{wanted.name} needs all of PyTorch's headers. They are compiled, once on this machine."
            )
        try:
            result = self._built(wanted)
        except compiler.CompileError as error:
            raise build_request.wrong(error) from error
        except compiler.BuildTimeout as error:
            raise build_request.late(self.timeout) from error
        self.requests.append(wanted)
        self.warned += result.warned
        self.builds.append(Built(wanted.name, result.seconds, result.cached, result.headers))
        return BuildReply(path=str(result.path))

    def _built(self, wanted: BuildRequest) -> compiler.BuildResult:
        if self.variant != "checked":
            with contextlib.suppress(compiler.CompileError):
                return compiler.build(wanted, timeout=self.timeout, variant=self.variant, runner=self._runner)
        return compiler.build(wanted, timeout=self.timeout, runner=self._runner)


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
    from grader.referee.cuda_builder import CudaBuilder  # what a GPU needs is loaded for a GPU

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
