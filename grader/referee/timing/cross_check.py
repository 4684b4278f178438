"""Two clocks: what a player says its calls took, against the referee's and the card's limits."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from grader.domain.speed import BlockTimes
from grader.referee.timing import clock_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.domain.gpu_card import Card

Array = NDArray[Any]

BAND = 0.10  # of a call's time; two honest clocks were within 3 % of each other on an H200
SLACK_S = 6e-6  # a call: what one Python loop may take longer than another
# Of a back-to-back block, for all of its calls together: by how much a process's quietest blocks may be
# beyond the upper quartile of another's, and its median block beyond the other's. On an H200 the former were
# never beyond, and the medians of six processes that did the same lay 62 to 357 us apart (row_spread.json).
BLOCK_SLACK_S, BLOCK_APART_S = 64e-6, 200e-6
ASKED = 2 / 3  # of a block's time; a host that waits for no call needs half of it to ask for all
# By which calls that follow each other may claim more than single ones, with a cold cache: where the host was
# ahead of the device, honest ones took up to 1.14 times as long on an H200.
WARMER, WARMER_S = 0.25, 2e-6
NEAR = 1.05  # times the median claim: blocks that make it what it is
TENTH = 0.1  # of these may be quiet for another reason than honesty
MISSING = 0.25  # of the time that blocks are too long must be what they claim less than others
SLOWED, WALL = 1.05, 1.1  # the wall clock holds the host's own waits as well


@dataclass(slots=True)
class Blocks:
    """The blocks of calls of one contender. All times are in seconds.

    Attributes:
        calls: Of each call of a block, as the process claims.
        wall: Of each block, by the referee's clock.
        asked: Until the host had asked for all calls of a block, as the process claims.
    """

    calls: list[list[float]] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    asked: list[float] = field(default_factory=list)

    def add(self, calls: list[float], wall_s: float, asked_s: float = 0.0) -> None:
        """One more block."""
        self.calls.append(calls)
        self.wall.append(wall_s)
        self.asked.append(asked_s)

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
        """The median of each block's calls, as the process claims."""
        return np.array([median(calls) for calls in self.calls])

    @property
    def gaps(self) -> Array:
        """For each block: seconds a call that the wall clock saw and the calls' times do not hold."""
        pairs = zip(self.calls, self.wall, strict=True)
        return np.array([(wall - sum(calls)) / len(calls) for calls, wall in pairs])

    def unexplained(self) -> float:
        """The median of ``gaps``."""
        return float(np.median(self.gaps))

    def times(self) -> BlockTimes:
        """For a verdict."""
        return BlockTimes(self.claims.tolist(), list(self.wall))


BlockPair = tuple[Blocks, Blocks]  # of a submission and of its reference


@dataclass(frozen=True, slots=True)
class ClockEvidence:
    """What the referee's clock says of the times that a submission's processes claim. Seconds are of a call.

    Attributes:
        claimed_s: What the submission claims, the median.
        hidden_s: Work that is hidden for certain; 0 or less where there is an excuse.
        apart_s: How much more passed between calls of the submission than of the reference, typically.
        confirmed: For each pair of processes, which blocks the wall clock confirms.
        clear: Enough blocks are confirmed, and no more than usual passed between calls.
        waits: Calls of the reference that wait for the device explain what is hidden; nothing else does.
        reference_s: What the reference claims, the median.
        back_to_back_s: What calls claim that follow each other, where it is too much for those that do not.
        enough: So many blocks are confirmed that a ratio of them says something.
        error_s: The standard error of ``apart_s``.
        least_apart_s: As ``apart_s``, in the submission's quietest blocks.
        why: What a student is told if no speed is claimed for a known reason.
    """

    claimed_s: float
    hidden_s: float
    apart_s: float
    confirmed: tuple[tuple[bool, ...], ...]
    clear: bool
    waits: bool = False
    reference_s: float = 0.0
    back_to_back_s: float = 0.0
    enough: bool = True
    error_s: float = 0.0
    least_apart_s: float = 0.0
    why: str = ""

    @property
    def suspicion(self) -> str:
        """What is wrong with the submission's times, or ""."""
        if self.hidden_s <= 0:
            return ""
        if self.back_to_back_s:
            return clock_words.contradiction(self.claimed_s, self.back_to_back_s)
        return clock_words.hidden_work(self.claimed_s, self.apart_s)


@dataclass(frozen=True, slots=True)
class _Gaps:
    """Of all blocks of a submission, seconds a call; the symbols are those of :func:`clock_evidence`.

    Attributes:
        claims: c.
        beyond: g - h - BAND C - s, what nothing explains.
        apart: g - m.
        waiting: max(h, w) - h, what calls that wait for the device would explain.
        confirmed: Whether g <= h + BAND c + s, for each pair of processes.
    """

    claims: Array
    beyond: Array
    apart: Array
    waiting: Array
    confirmed: tuple[tuple[bool, ...], ...]


def clock_evidence(
    pairs: Sequence[BlockPair], waiting: Sequence[Blocks] = (), *, length: int = 0
) -> ClockEvidence:
    """From the blocks of submission and reference of each pair of processes.

    Between the calls both processes do the same (empty the cache, keep the result), so that time, the *gap*
    g = (wall time - sum of the claimed times) / calls of a block, is measured on the trusted one. A larger
    gap at the submission is work that its times do not show, or a host that did something else for a while.
    The host makes some blocks long and never one short; hidden work is in every block that claims to be fast.

    For a block that claims c, beside a reference whose gaps have the median m and the upper quartile h (w, of
    blocks whose calls wait for the device), with C the median claim of all calls and the slack s:

    - the block counts for the ratio if g <= h + BAND c + s, whoever is to blame if it does not;
    - the blocks that make the claim are those with c <= NEAR median(c). The submission is suspected if
      q(g - h - BAND C - s) > 0 over these, where q is the quietest tenth. To hide work in fewer than half of
      the blocks is of no use, since they do not count. No more is held against it than q(g - max(h, w) -
      ...);
    - hidden time is missing in the claims. If confirmed blocks do not claim more than those of the fast ones
      that are not confirmed, by MISSING of what these are apart, nothing is hidden in these: the host did
      something else in them.

    Args:
        pairs: Blocks of submission and reference, for each pair of processes.
        waiting: Where there is a suspicion: for each pair, blocks of the reference whose calls wait for the
            device. What is done after such a call finds the device idle, so it takes longer than after
            others; no more than that can be held against a submission. But no speed is claimed for it then.
        length: So many calls follow each other in a block, and share what one loop may take longer than
            another; 0 for single calls.
    """
    slack_s = min(SLACK_S, BLOCK_SLACK_S / length) if length else SLACK_S
    claimed_s, reference_s = (
        float(np.median(np.concatenate([pair[side].seconds for pair in pairs]))) for side in (0, 1)
    )
    gaps = _gaps(pairs, waiting, claimed_s, slack_s)
    fastest = np.flatnonzero(gaps.claims <= NEAR * np.median(gaps.claims))
    apart_s = float(np.median(gaps.apart[fastest]))
    suspected_s = _suspected(gaps, fastest, apart_s)
    hidden_s = min(suspected_s, _quietest((gaps.beyond - gaps.waiting)[fastest]))
    waits = suspected_s > 0 >= hidden_s
    enough = all(sum(each) >= max(2, len(each) / 2) for each in gaps.confirmed)
    return ClockEvidence(
        claimed_s=claimed_s,
        hidden_s=hidden_s,
        apart_s=apart_s,
        confirmed=gaps.confirmed,
        clear=enough and not waits and apart_s <= BAND * claimed_s + SLACK_S,
        waits=waits,
        reference_s=reference_s,
        enough=enough,
        error_s=math.hypot(*(_standard_error([pair[side].gaps for pair in pairs]) for side in (0, 1))),
        least_apart_s=_quietest(gaps.apart),
        why=clock_words.waiting_calls(apart_s) if waits else "",
    )


def _gaps(pairs: Sequence[BlockPair], waiting: Sequence[Blocks], claimed_s: float, slack_s: float) -> _Gaps:
    claims, beyond, apart, excused, confirmed = [], [], [], [], []
    for number, (own, reference) in enumerate(pairs):
        middle, high = (float(q) for q in np.quantile(reference.gaps, [0.5, 0.75]))
        slowest = max(high, float(np.quantile(waiting[number].gaps, 0.75))) if waiting else high
        allowed = BAND * own.claims + slack_s
        claims.append(own.claims)
        beyond.append(own.gaps - high - BAND * claimed_s - slack_s)
        excused.append(np.full_like(own.gaps, slowest - high))
        apart.append(own.gaps - middle)
        confirmed.append(tuple(bool(good) for good in own.gaps <= high + allowed))
    return _Gaps(
        np.concatenate(claims), np.concatenate(beyond), np.concatenate(apart), np.concatenate(excused),
        tuple(confirmed),
    )  # fmt: skip


def _suspected(gaps: _Gaps, fastest: Array, apart_s: float) -> float:
    """Seconds a call that seem hidden, unless the blocks that are confirmed claim no more than the others."""
    found_s = _quietest(gaps.beyond[fastest])
    sure = np.concatenate(gaps.confirmed)
    doubted = fastest[~sure[fastest]]
    if sure.any() and len(doubted):
        missing_s = float(np.median(gaps.claims[sure]) - np.median(gaps.claims[doubted]))
        return found_s if missing_s > MISSING * apart_s else min(found_s, 0.0)
    return found_s


def host_was_behind(pairs: Sequence[BlockPair]) -> bool:
    """Whether the submission's processes say that they could not ask in advance for calls that follow each
    other.

    Only that is an excuse for more time between them, and it costs the ratio: where calls are short, what is
    hidden cannot be told from it. So who says it for no reason gains nothing.
    """
    shares = [a / w for own, _ in pairs for a, w in zip(own.asked, own.wall, strict=True)]
    return float(np.median(shares)) > ASKED


def _standard_error(gaps: Sequence[Array]) -> float:
    """Of the median of all, each set less its own; outliers make little of it."""
    around = np.concatenate([each - np.median(each) for each in gaps])
    low, high = np.quantile(around, [0.25, 0.75])
    return float(1.2533 * (high - low) / 1.349 / math.sqrt(len(around)))


def tolerated_s(back_to_back: ClockEvidence, length: int) -> float:
    """Seconds a call that back-to-back blocks may be apart, and a speed be claimed all the same."""
    return BAND * back_to_back.claimed_s + BLOCK_APART_S / length


def shortest_block(call_s: float) -> int:
    """The fewest calls of a block: what is tolerated for all of them is at most half of what is for each."""
    return math.ceil(2 * BLOCK_APART_S / (BAND * call_s))


def is_precise(back_to_back: ClockEvidence, length: int) -> bool:
    """Whether twice as much as is tolerated would have been seen, 98 times of 100.

    Where the host is too restless for that, a clock that finds nothing says nothing.
    """
    return back_to_back.error_s <= tolerated_s(back_to_back, length) / 2


def combined(
    single: ClockEvidence, back_to_back: ClockEvidence, length: int, pooled: ClockEvidence | None = None, *,
    host_behind: bool = False,
) -> ClockEvidence:  # fmt: skip
    """What single calls and blocks of ``length`` calls that follow each other say of the same processes.

    These cannot hide much, so single calls must not claim much less than they do. Where they are quiet,
    single calls need not be.

    Args:
        single: From blocks of single calls.
        back_to_back: From blocks of calls that follow each other.
        length: Calls of such a block.
        pooled: From those of earlier races, too, so that nobody has three chances of looking quiet.
        host_behind: The submission's process says that the host asked for the calls of a block until its end.
            Then they may have taken as long as the host, which a single call's time does not hold; so they do
            for the reference, and as many times longer is no contradiction. Beyond that nobody can tell, and
            no speed is claimed: 160 launches took an H200 0.42 ms by themselves and 1.18 ms in a row.
    """
    pooled = pooled or back_to_back
    if back_to_back.suspicion:
        return replace(back_to_back, confirmed=single.confirmed)
    if single.suspicion:
        return single
    behind = host_behind and single.reference_s
    slower = max(1.0, back_to_back.reference_s / single.reference_s) if behind else 1.0
    missing_s = (1 - WARMER) * back_to_back.claimed_s / slower - single.claimed_s - WARMER_S
    if missing_s > 0 and host_behind:
        why = clock_words.slow_host(single.claimed_s, back_to_back.claimed_s)
        return replace(single, clear=False, why=why)
    if missing_s > 0:
        return replace(single, hidden_s=missing_s, back_to_back_s=back_to_back.claimed_s, clear=False)
    precise, far = is_precise(pooled, length), pooled.apart_s > tolerated_s(pooled, length)
    clear = single.enough and precise and not far and not (single.waits or back_to_back.waits)
    worse = back_to_back if back_to_back.waits else single
    why = worse.why
    if not why and precise and far and pooled.least_apart_s > 0:
        why = clock_words.unexplained_gap(pooled.apart_s, length)
    return replace(worse, confirmed=single.confirmed, enough=single.enough, clear=clear, why=why)


def _quietest(seconds: Array) -> float:
    return float(np.quantile(seconds, TENTH, method="lower"))


def too_fast(own: Blocks, card: Card | None, read_bytes: int, flops: int) -> str:
    """Whether a call is said to take less than the card needs to read its input or to multiply, or ""."""
    if card is None:
        return ""
    floor_s = max(read_bytes / card.dram_bytes_per_second, flops / card.tensor_flops_per_second)
    claimed_s = median(own.seconds)
    if claimed_s < 0.9 * floor_s:
        return (
            f"The process says that a call took {claimed_s * 1e6:.1f} us. {card.name} needs "
            f"{floor_s * 1e6:.1f} us for the bytes or the products alone, so the work was not done, or not "
            "in that time."
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
