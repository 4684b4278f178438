"""One contender of a race, as the referee sees it."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import Any

from grader.domain.verdict import Status
from grader.referee.fault import FaultError
from grader.referee.process.player_process import Player
from grader.referee.timing.cross_check import Blocks

SECONDS = 120.0
OWN, EAGER, SOLUTION, COPY = "submission", "eager", "solution", "copy"


@dataclass(slots=True)
class Track:
    """One contender: its player, the name of its track there, and its blocks so far.

    ``sums``: of the bits of each result of the last block, as told when the block ended; ``lead``: the
    result of the work that came before it.
    """

    name: str
    player: Player
    blocks: Blocks = field(default_factory=Blocks)
    sums: Any = None
    lead: Any = None

    def block(
        self, order: list[int], seed: int, times: int, fresh: tuple[str, ...] = (),
        lead: tuple[int, int] | None = None, **how: bool,
    ) -> None:  # fmt: skip
        """Run one block; the times, and the seconds that passed here, go to ``blocks``.

        What takes a host longer at one time than at another is done before the clock runs. ``lead``: size
        and steps of work that comes before calls that follow each other. ``how``: whether the device is
        waited for after each call (``drain``), and whether the call itself ``waits``.
        """
        self.ask("prepare", calls=len(order), fresh=fresh, lead=lead[0] if lead else 0)
        begun = time.monotonic()
        data = self.ask("block", order=order, seed=seed, times=times, lead=lead or (), **how)
        wall = time.monotonic() - begun
        said, self.sums, self.lead = data.get("seconds"), data.get("sums"), data.get("lead")
        if not isinstance(said, list) or len(said) != len(order) or not all(map(positive, said)):
            raise FaultError(Status.TAMPERED, "The submission's process gave no times.")
        asked: Any = data.get("asked")
        self.blocks.add([float(s) for s in said], wall, float(asked) if positive(asked) else 0.0)

    def repeat(self, order: list[int], seed: int | None) -> None:
        """The same calls for their results only; without a seed, with inputs as they were drawn."""
        self.ask("prepare", calls=len(order))
        self.sums = self.ask("block", order=order, seed=seed).get("sums")

    def ask(self, step: str, **fields: Any) -> dict[str, Any]:
        """A request to the track."""
        return self.player.ask(
            "command", SECONDS, command="race_blocks", step=step, track=self.name, **fields
        ).data


def positive(value: Any) -> bool:
    """Whether a claim is a positive finite number."""
    good = isinstance(value, (int, float)) and not isinstance(value, bool)
    return good and 0 < value <= sys.float_info.max
