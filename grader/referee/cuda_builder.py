"""Compile for a player on a GPU. What the fast build cannot, a player builds for itself, as torch does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.backends.cuda.compile import fast_build, tools
from grader.backends.cuda.compile.host_text import CannotError
from grader.backends.extension.request import BuildRequest, Built
from grader.backends.simt.compile import compiler
from grader.backends.simt.compile.toolchain import CompilerFailed
from grader.protocol.messages import BuildReply
from grader.referee import build_request
from grader.referee.sandbox import compiler_jail

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.backends.simt.compile.warnings import Warned


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
        wanted = build_request.read(request)
        self.requests.append(wanted)
        if self._ordinary:
            return BuildReply(ordinary="it was asked for")
        try:
            built = fast_build.build(wanted, self.card, run=self._run, timeout=self.timeout)
        except fast_build.CompileError as error:
            raise build_request.wrong(error) from error
        except compiler.BuildTimeout as error:
            raise build_request.late(self.timeout) from error
        except (CannotError, CompilerFailed, compiler.ToolchainError) as reason:
            why = str(reason).strip().splitlines()[0]
            if not any(built.ordinary == why for built in self.builds):  # a race asks again for each process
                self._say(f"{wanted.name} is built as PyTorch does, which takes longer: {why}.")
            self.builds.append(Built(wanted.name, 0.0, cached=False, headers="full", ordinary=why))
            return BuildReply(ordinary=why)
        self.builds.append(Built(wanted.name, built.seconds, built.cached, "lean", steps=built.steps))
        return BuildReply(path=str(built.path))


def prepare(say: Callable[[str], None]) -> None:
    """Make what fast builds need once; where that fails, all builds are ordinary ones, and that is said."""
    try:
        fast_build.prepare(say)
    except (CannotError, CompilerFailed, compiler.ToolchainError) as reason:
        say(f"Extensions are built as torch does, which takes longer: {str(reason).splitlines()[0]}.")
