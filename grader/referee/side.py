"""One side of a call as the referee holds it: a player, and the steps that it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeVar

import msgspec

from grader.domain.verdict import Status
from grader.protocol import messages, play
from grader.protocol.wire import MalformedError
from grader.referee.fault import FaultError

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.protocol.arena import Arena
    from grader.protocol.play import Step
    from grader.referee.process.connection import Answer
    from grader.referee.process.player_process import Player

Form = TypeVar("Form", bound=msgspec.Struct)
Told = TypeVar("Told")
COMPARING = (play.Compare, play.Same, play.Share)  # steps that call nothing of the reference's file
STAGES = {"make": "construct", "begin": "construct"}  # in the words for what took too long; others: the call


class Side:
    """A player in one of the two roles.

    A step without an answer waits for the next that has one, so that a call takes few requests. ``hear`` is
    told of each answer, with the step it belongs to.
    """

    def __init__(
        self,
        role: Literal["reference", "submission"],
        player: Player,
        hear: Callable[[Step, Answer], None] = lambda *_: None,
    ) -> None:
        self.role, self.player, self._hear = role, player, hear
        self._waiting: list[Step] = []
        self._taken: dict[int, int] = {}  # bytes that waiting steps will read, by the memory's number

    @property
    def inbox(self) -> Arena:
        """What the player reads, if it still runs; else what ended it is raised."""
        return self.player.inbox

    @property
    def outbox(self) -> Arena:
        """What the player writes, if it still runs; else what ended it is raised."""
        return self.player.outbox

    def later(self, step: Step) -> None:
        """Do it with the next request."""
        self._waiting.append(step)

    def place(self, nbytes: int, there: int = 0) -> int:
        """Where in the inbox, or ``there`` on the device, so many bytes may be put for a step that waits."""
        inbox = self.inbox
        at = self.taken(there)
        self._taken[there] = at + nbytes
        if not there:
            inbox.reach(at + nbytes)
        return at

    def taken(self, there: int = 0) -> int:
        """Bytes of the inbox, or of memory of the device, that waiting steps will read."""
        return self._taken.get(there, 0)

    def flush(self) -> None:
        """Do what waits."""
        if self._waiting:
            self._request(self._waiting.pop(), self.player.limits.call)

    def ask(self, step: Step, form: type[Form], *, seconds: float | None = None) -> Form:
        """Do what waits and this step; its answer. ``seconds``: allowed for it, if not those of a call.

        Raises:
            FaultError: The player could not, or what it says has no proper form.
        """
        answer = self._request(step, seconds or self.player.limits.call)
        try:
            return messages.decode(answer.data, form, f"an answer to {play.name_of(step)!r}")
        except MalformedError as error:
            self.player.stop()
            raise FaultError(
                Status.TAMPERED, f"The submission's process sent the grader {error}.", dead=True
            ) from error

    def _request(self, step: Step, seconds: float) -> Answer:
        steps, self._waiting, self._taken = [*self._waiting, step], [], {}
        answer = self._asked(steps, STAGES.get(play.name_of(step), "call"), seconds)
        self._hear(step, answer)
        return answer

    def _asked(self, steps: list[Step], stage: str, seconds: float) -> Answer:
        data = [msgspec.to_builtins(step) for step in steps]
        return self.player.ask("play", seconds, stage=stage, side=self.role, steps=data)


class Reference(Side):
    """The reference in a process of its own. What it is told, the submission's process never sees."""

    def __init__(self, player: Player, path: str) -> None:
        super().__init__("reference", player)
        self.path = path
        self._loaded = False

    def load(self) -> None:
        """Import the file, once."""
        if not self._loaded:
            self._loaded = True
            _of_reference(lambda: self.player.ask("load", self.player.limits.load, path=self.path))

    @property
    def inbox(self) -> Arena:
        """As a side's; what ended the reference's player is no fault of the submission's."""
        return _of_reference(lambda: self.player.inbox, calls=False)

    @property
    def outbox(self) -> Arena:
        """As :attr:`inbox`."""
        return _of_reference(lambda: self.player.outbox, calls=False)

    def _asked(self, steps: list[Step], stage: str, seconds: float) -> Answer:
        calls = not isinstance(steps[-1], COMPARING)
        return _of_reference(lambda: super(Reference, self)._asked(steps, stage, seconds), calls=calls)


def _of_reference(ask: Callable[[], Told], *, calls: bool = True) -> Told:
    """What the reference answers; a fault of its own says so, and is no fault of the submission's.

    ``calls``: something of the reference's file runs; else a fault says nothing of what it takes for input.
    """
    try:
        return ask()
    except FaultError as fault:
        status = Status.OUT_OF_MEMORY if fault.status is Status.OUT_OF_MEMORY else Status.NOT_GRADABLE
        what = "The reference itself failed" if calls else "The results could not be compared"
        by = "called" if calls else "comparing"
        raise FaultError(status, f"{what}: {fault.message}", reference=by, **fault.evidence) from fault
