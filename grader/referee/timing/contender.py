"""One contender of a race, as the referee sees it."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from grader.domain.verdict import Status
from grader.referee.fault import FaultError
from grader.referee.timing.cross_check import Blocks

if TYPE_CHECKING:
    from grader.referee.process.player_process import Player
    from grader.referee.side import Side

LIMIT_S = 120.0  # for one request
OWN, EAGER, SOLUTION, COPY = "submission", "eager", "solution", "copy"


@dataclass(frozen=True, slots=True)
class BusyWork:
    """Work that keeps a device busy before calls that follow each other.

    Attributes:
        size: Of the square matrices that it multiplies.
        steps: Products.
    """

    size: int
    steps: int


@dataclass(slots=True)
class Contender:
    """What is timed in one process, and its blocks so far.

    Attributes:
        name: What the process calls it.
        side: The process, and the side whose model or function is called.
        blocks: What both clocks said of its blocks.
        sums: Of the bits of each result of the last block, as told when the block ended.
        busy_work: The result of the busy work before the last block, as told.
        prepared: What the next block is prepared for: so many calls, what was moved about, and the size of
            the busy work's matrices.
    """

    name: str
    side: Side
    blocks: Blocks = field(default_factory=Blocks)
    sums: Any = None
    busy_work: Any = None
    prepared: tuple[int, tuple[str, ...], int] | None = None

    @property
    def player(self) -> Player:
        """The process."""
        return self.side.player

    def prepare(self, calls: int, fresh: tuple[str, ...] = (), busy_size: int = 0) -> None:
        """Do before a block whatever takes a host longer at one time than at another: memory, events.

        It may be done while no block is timed, long before this one is. Then there is one more call right
        before the block, so that its code is in the caches again.

        Args:
            calls: Of the block.
            fresh: What is moved about.
            busy_size: Of the matrices of the work that comes before calls that follow each other; 0 for none.
        """
        self.prepared = None
        self.ask("prepare", calls=calls, fresh=fresh, busy_work=busy_size)
        self.prepared = calls, fresh, busy_size

    def run_block(
        self, numbers: list[int], seed: int, *, flushes: int = 0, fresh: tuple[str, ...] = (),
        busy_work: BusyWork | None = None, drain: bool = False, waits: bool = False,
    ) -> None:  # fmt: skip
        """Run one block; the times, and the seconds that passed here, go to ``blocks``.

        What takes a host longer at one time than at another is done before the clock runs, unless the block
        is prepared already.

        Args:
            numbers: For each call the number of its set of inputs.
            seed: Of the inputs.
            flushes: How often the cache is overwritten before each call.
            fresh: What is moved about before the block.
            busy_work: Done before the calls, which then follow each other.
            drain: After each call the device is waited for.
            waits: The call itself waits for the device.

        Raises:
            FaultError: ``tampered`` if the answer holds no times.
        """
        wanted = len(numbers), fresh, busy_work.size if busy_work else 0
        if self.prepared == wanted:
            self.ask("warm")
        else:
            self.prepare(*wanted)
        self.prepared = None
        work = (busy_work.size, busy_work.steps) if busy_work else ()
        begun = time.monotonic()
        data = self.ask(
            "block", order=numbers, seed=seed, flushes=flushes, busy_work=work, drain=drain, waits=waits
        )
        wall_s = time.monotonic() - begun
        claims, self.sums, self.busy_work = data.get("seconds"), data.get("sums"), data.get("busy_work")
        if not isinstance(claims, list) or len(claims) != len(numbers) or not all(map(positive, claims)):
            raise FaultError(Status.TAMPERED, "The submission's process gave no times.")
        asked: Any = data.get("asked")
        self.blocks.add([float(s) for s in claims], wall_s, float(asked) if positive(asked) else 0.0)

    def repeat(self, numbers: list[int], seed: int | None) -> None:
        """The same calls for their results only; without a seed, with inputs as they were drawn."""
        self.prepare(len(numbers))
        self.prepared = None
        self.sums = self.ask("block", order=numbers, seed=seed).get("sums")

    def ask(self, step: str, **fields: Any) -> dict[str, Any]:
        """A request to the process; see :mod:`grader.player.commands.race_blocks` for the steps."""
        answer = self.player.ask(
            "command", LIMIT_S, command="race_blocks", step=step, contender=self.name, **fields
        )
        return answer.data


def positive(value: Any) -> bool:
    """Whether a claim is a positive finite number."""
    good = isinstance(value, (int, float)) and not isinstance(value, bool)
    return good and 0 < value <= sys.float_info.max
