"""Two clocks: what a player says its calls took, against the referee's and the card's limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median

from grader.roofline import Card

BAND = 0.10  # of a call's time; two honest clocks were within 3 % of each other on an H200
SLACK = 6e-6  # seconds a call: what one Python loop may take longer than another
SLOWED, WALL = 1.05, 1.1  # the wall clock holds the host's own waits as well


@dataclass(slots=True)
class Blocks:
    """The blocks of one contender: seconds of each call as it says, and the referee's for each block."""

    calls: list[list[float]] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    def add(self, calls: list[float], wall: float) -> None:
        """One more block."""
        self.calls.append(calls)
        self.wall.append(wall)

    def extend(self, others: Blocks) -> None:
        """All of another's blocks too."""
        self.calls += others.calls
        self.wall += others.wall

    @property
    def seconds(self) -> list[float]:
        """Of all single calls."""
        return [s for block in self.calls for s in block]

    def unexplained(self) -> float:
        """Seconds a call that the wall clock saw and the calls' times do not hold; the median of blocks."""
        pairs = zip(self.calls, self.wall, strict=True)
        return median((wall - sum(calls)) / len(calls) for calls, wall in pairs)


def disagreement(own: Blocks, trusted: Blocks) -> str:
    """What is wrong with the submission's times, or "".

    Between the calls both players do the same (empty the cache, keep the result), so that time is measured
    on the ``trusted`` one. More of it at the submission is work that its times do not show.
    """
    hidden = own.unexplained() - trusted.unexplained()
    said = median(own.seconds)
    if hidden > BAND * said + SLACK:
        return (
            f"The process says that a call took {said * 1e6:.1f} us, but {hidden * 1e6:.1f} us more passed "
            "for each on the referee's clock than between calls of the reference: work is done outside "
            "of the time that is claimed."
        )
    return ""


def too_fast(own: Blocks, card: Card | None, read_bytes: int, flops: int) -> str:
    """Whether a call is said to take less than the card needs to read its input or to multiply, or ""."""
    if card is None:
        return ""
    floor = max(read_bytes / card.dram_bytes_per_second, flops / card.tensor_flops_per_second)
    said = median(own.seconds)
    if said < 0.9 * floor:
        return (
            f"The process says that a call took {said * 1e6:.1f} us. {card.name} needs {floor * 1e6:.1f} us "
            "for the bytes or the products alone, so the work was not done, or not in that time."
        )
    return ""


def slowed(during: Blocks, alone: Blocks) -> str:
    """Whether the reference ran slower beside the submission than after it had ended, or "".

    By the wall clock too: a GPU shares itself out in slices of time, which the median of calls does not see.
    """
    by_wall = median(during.wall) / median(alone.wall)
    ratio = max(median(during.seconds) / median(alone.seconds), by_wall / WALL)
    if ratio > SLOWED:
        return (
            f"The reference took {ratio:.2f} times as long while the submission's process was alive as after "
            "it had ended: something of the submission kept the GPU busy in the other's turns."
        )
    return ""
