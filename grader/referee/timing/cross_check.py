"""Two clocks: what a player says its calls took, against the referee's and the card's limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.domain.gpu_card import Card
from grader.referee.timing import clock_words

Array = NDArray[Any]

BAND = 0.10  # of a call's time; two honest clocks were within 3 % of each other on an H200
SLACK = 6e-6  # seconds a call: what one Python loop may take longer than another
# Of a row of calls, for all of them together: by how much a process's quietest rows may be beyond the upper
# quartile of another's, and its median row beyond the other's. On an H200 the former were never beyond, and
# the medians of six processes that did the same lay 62 to 357 us apart (row_spread.json).
ROW_SLACK, ROW_APART = 64e-6, 200e-6
ASKED = 2 / 3  # of a row's time; a host that waits for no call needs half of it to ask for all
# By which calls that follow each other may claim more than single ones, with a cold cache: where the host was
# ahead of the device, honest ones took up to 1.14 times as long on an H200.
ALIKE, APART = 0.25, 2e-6
NEAR = 1.05  # times the median claim: blocks that make it what it is
TENTH = 0.1  # of these may be quiet for another reason than honesty
MISSING = 0.25  # of the time that blocks are too long must be what they claim less than others
SLOWED, WALL = 1.05, 1.1  # the wall clock holds the host's own waits as well


@dataclass(slots=True)
class Blocks:
    """The blocks of one contender: seconds of each call as it says, and the referee's for each block.

    ``asked``: seconds until the host had asked for all calls of a block, as it says.
    """

    calls: list[list[float]] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    asked: list[float] = field(default_factory=list)

    def add(self, calls: list[float], wall: float, asked: float = 0.0) -> None:
        """One more block."""
        self.calls.append(calls)
        self.wall.append(wall)
        self.asked.append(asked)

    def extend(self, others: Blocks) -> None:
        """All of another's blocks too."""
        self.calls += others.calls
        self.wall += others.wall
        self.asked += others.asked

    @property
    def seconds(self) -> list[float]:
        """Of all single calls."""
        return [s for block in self.calls for s in block]

    @property
    def claims(self) -> Array:
        """The median of each block's calls, as the player tells it."""
        return np.array([median(calls) for calls in self.calls])

    @property
    def gaps(self) -> Array:
        """For each block: seconds a call that the wall clock saw and the calls' times do not hold."""
        pairs = zip(self.calls, self.wall, strict=True)
        return np.array([(wall - sum(calls)) / len(calls) for calls, wall in pairs])

    def unexplained(self) -> float:
        """The median of ``gaps``."""
        return float(np.median(self.gaps))

    def as_json(self) -> dict[str, list[float]]:
        """For a verdict: of each block the median claim and the wall time of all its calls, in seconds."""
        return {"claims": self.claims.tolist(), "walls": list(self.wall)}


@dataclass(frozen=True, slots=True)
class Testimony:
    """What the referee's clock says of the times that a submission's processes claim.

    ``hidden``: seconds a call by which even the quietest of the blocks that claim to be fastest go beyond
    everything that the host and the reference explain; above 0 no noise in some blocks is an excuse.
    ``waits``: calls of the reference that wait for the device explain it, and the others do not.
    ``kept``: for each pair of processes, which blocks the wall clock confirms. ``enough``: so many that a
    ratio of them says something. ``clear``: and no more than usual between calls. ``unsure``: the standard
    error of ``apart``, which is how much more passed between calls of the submission than of the reference;
    ``least``: so much even in its quietest blocks.
    ``trusted``: what the reference claims. ``row``: what calls claim that follow each other, where it is too
    much for those that do not. ``why``: what a student is told if no speed is claimed for a known reason.
    """

    said: float
    hidden: float
    apart: float
    kept: tuple[tuple[bool, ...], ...]
    clear: bool
    waits: bool = False
    trusted: float = 0.0
    row: float = 0.0
    enough: bool = True
    unsure: float = 0.0
    least: float = 0.0
    why: str = ""

    @property
    def accuses(self) -> str:
        """What is wrong with the submission's times, or ""."""
        if self.hidden <= 0:
            return ""
        return (
            clock_words.contradicts(self.said, self.row)
            if self.row
            else clock_words.hides(self.said, self.apart)
        )


def testimony(
    pairs: Sequence[tuple[Blocks, Blocks]], waiting: Sequence[Blocks] = (), *, row: int = 0
) -> Testimony:
    """From the blocks of submission and reference of each pair of processes.

    ``row``: so many calls follow each other, and share what one loop may take longer than another.
    ``waiting``, where there is a suspicion: of each pair, blocks of the reference whose calls wait for the
    device. What is done after such a call finds the device idle, so it takes longer than after others; no
    more than that can be held against a submission. But no speed is claimed for it then.

    Between the calls both players do the same (empty the cache, keep the result), so that time is measured
    on the trusted one. More of it at the submission is work that its times do not show, or a host that did
    something else for a while. The host makes some blocks long and never one short; hidden work is in every
    block that claims to be fast. So:

    - an accusation looks at the blocks that claim to be as fast as the median, or faster, and at the
      quietest tenth of those, against the reference's upper quartile. To hide work in fewer than half of the
      blocks is of no use, since
    - a block whose wall time is not explained does not count for the ratio, whoever is to blame.

    Time that is hidden is missing in the claims. If blocks that are confirmed claim no more than those that
    are not, nothing is hidden in these: the host did something else in them.
    """
    slack = min(SLACK, ROW_SLACK / row) if row else SLACK
    said, by_trusted = (float(np.median(np.concatenate([p[side].seconds for p in pairs]))) for side in (0, 1))
    claims, beyond, apart, kept, longer = [], [], [], [], []
    for number, (own, trusted) in enumerate(pairs):
        middle, high = (float(q) for q in np.quantile(trusted.gaps, [0.5, 0.75]))
        slowest = max(high, float(np.quantile(waiting[number].gaps, 0.75))) if waiting else high
        allowed = BAND * own.claims + slack
        claims.append(own.claims)
        beyond.append(own.gaps - high - BAND * said - slack)
        longer.append(np.full_like(own.gaps, slowest - high))
        apart.append(own.gaps - middle)
        kept.append(tuple(bool(k) for k in own.gaps <= high + allowed))
    claimed = np.concatenate(claims)
    fastest = np.flatnonzero(claimed <= NEAR * np.median(claimed))
    hidden = _quietest(np.concatenate(beyond)[fastest])
    typical = float(np.median(np.concatenate(apart)[fastest]))
    sure = np.concatenate(kept)
    doubted = fastest[~sure[fastest]]
    if sure.any() and len(doubted):
        missing = float(np.median(claimed[sure]) - np.median(claimed[doubted]))
        hidden = hidden if missing > MISSING * typical else min(hidden, 0.0)
    left = min(hidden, _quietest((np.concatenate(beyond) - np.concatenate(longer))[fastest]))
    waits = hidden > 0 >= left
    enough = all(sum(k) >= max(2, len(k) / 2) for k in kept)
    clear = enough and not waits and typical <= BAND * said + SLACK
    unsure = math.hypot(*(_error([pair[side].gaps for pair in pairs]) for side in (0, 1)))
    return Testimony(
        said, left, typical, tuple(kept), clear, waits, by_trusted,
        enough=enough, unsure=unsure, least=_quietest(np.concatenate(apart)),
        why=clock_words.waits(typical) if waits else "",
    )  # fmt: skip


def waited(pairs: Sequence[tuple[Blocks, Blocks]]) -> bool:
    """Whether the submission's processes say that they could not ask for the calls of a row in advance.

    Only that is an excuse for more time between them, and it costs the ratio: where calls are short, what is
    hidden cannot be told from it. So who says it for no reason gains nothing.
    """
    return (
        float(np.median([a / w for own, _ in pairs for a, w in zip(own.asked, own.wall, strict=True)]))
        > ASKED
    )


def _error(gaps: Sequence[Array]) -> float:
    """The standard error of the median of all, each set less its own; outliers make little of it."""
    around = np.concatenate([each - np.median(each) for each in gaps])
    low, high = np.quantile(around, [0.25, 0.75])
    return float(1.2533 * (high - low) / 1.349 / math.sqrt(len(around)))


def bearable(rows: Testimony, row: int) -> float:
    """Seconds a call that rows of so many may be apart, and a speed be claimed all the same."""
    return BAND * rows.said + ROW_APART / row


def shortest(seconds: float) -> int:
    """The fewest calls in a row: what is borne for all of them is at most half of what is for each."""
    return math.ceil(2 * ROW_APART / (BAND * seconds))


def precise(rows: Testimony, row: int) -> bool:
    """Whether twice as much as is bearable would have been seen, 98 times of 100.

    Where the host is too restless for that, a clock that finds nothing says nothing.
    """
    return rows.unsure <= bearable(rows, row) / 2


def agreed(
    single: Testimony, rows: Testimony, row: int, whole: Testimony | None = None, *, late: bool = False
) -> Testimony:
    """What single calls and rows of so many say together of the same processes.

    Rows cannot hide much, so single calls must not claim much less than those in a row. Where rows are quiet,
    single calls need not be. ``whole``: rows of earlier races, too, so that nobody has three chances of
    looking quiet.

    ``late``: the submission's process says that the host asked for the calls of a row until its end. Then
    they may have taken as long as the host, which a single call's time does not hold; so they do for the
    reference, and as many times longer is no contradiction. Beyond that nobody can tell, and no speed is
    claimed: 160 launches took an H200 0.42 ms by themselves and 1.18 ms in a row.
    """
    whole = whole or rows
    if rows.accuses:
        return replace(rows, kept=single.kept)
    if single.accuses:
        return single
    slower = max(1.0, rows.trusted / single.trusted) if late and single.trusted else 1.0
    more = (1 - ALIKE) * rows.said / slower - single.said - APART
    if more > 0 and late:
        return replace(single, clear=False, why=clock_words.late(single.said, rows.said))
    if more > 0:
        return replace(single, hidden=more, row=rows.said, clear=False)
    sure, far = precise(whole, row), whole.apart > bearable(whole, row)
    clear = single.enough and sure and not far and not (single.waits or rows.waits)
    worse = rows if rows.waits else single
    why = worse.why or (clock_words.far(whole.apart, row) if sure and far and whole.least > 0 else "")
    return replace(worse, kept=single.kept, enough=single.enough, clear=clear, why=why)


def _quietest(seconds: Array) -> float:
    return float(np.quantile(seconds, TENTH, method="lower"))


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
    Of the race's walls the lower quartile counts: the host makes some of them long by itself.
    """
    by_wall = float(np.quantile(during.wall, 0.25)) / median(alone.wall)
    ratio = max(median(during.seconds) / median(alone.seconds), by_wall / WALL)
    if ratio > SLOWED:
        return (
            f"The reference took {ratio:.2f} times as long while the submission's process was alive as after "
            "it had ended: something of the submission kept the GPU busy in the other's turns."
        )
    return ""
