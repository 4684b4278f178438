"""What both clocks say of a race: of its single calls, of rows of calls, and of a reference that waits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from grader.referee.timing import back_to_back as rows
from grader.referee.timing import cross_check
from grader.referee.timing.back_to_back import Pair
from grader.referee.timing.cross_check import Blocks, Testimony
from grader.referee.timing.order import order, seed_of
from grader.referee.timing.setup import Start
from grader.referee.timing.track import EAGER, Track

if TYPE_CHECKING:
    from grader.referee.session import Session

AFTER = 4  # blocks of the reference for a second look
LONG = 80e-6  # seconds of a call, of which little is what one loop takes longer than another
BLOCKS, LONG_BLOCKS = 18, 4  # rows of each side, for all pairs of processes together
FEWEST = 2  # of each pair
MORE = 18  # before they accuse, or where they are too far apart to tell; no more than twice


@dataclass(slots=True)
class Past:
    """What a submission's earlier races leave to the next.

    ``rows``: those of short calls, if they were precise. ``late``: its process said in the last race that the
    host asked for the calls of a row until its end, as it does if they wait for the device.
    """

    rows: list[list[Pair]] = field(default_factory=list)
    late: bool = False


@dataclass(frozen=True, slots=True)
class Hearing:
    """What was said, by which rows of each pair of processes, and how many of their results were compared.

    ``length``: calls of a row.
    """

    said: Testimony
    rows: list[Pair]
    compared: int
    length: int = 0


def hear(
    session: Session, singles: Sequence[Pair], starts: Sequence[Start], trusted: Sequence[Start],
    past: Past, *, drain: bool,
) -> Hearing:  # fmt: skip
    """Hear single calls of each pair of processes, let them make rows, and hear those.

    ``trusted``: whose reference is looked at, before anything accuses, while its calls wait for the device.
    ``drain``: the device was waited for after each single call. So it is after each of a row if these waited
    in the last race; but not where calls are short, since no row would tell much then. Raises FaultError as
    :func:`rows.in_rows` does.

    If the host was behind in a row of long calls, and no call waits, it may have been because a device keeps
    no more than about a thousand launches. So a shorter row is made, and counts if the host was ahead there.
    """
    said = _look(session, singles, trusted, drain=drain)
    short = said.said < LONG
    drained = drain and past.late and not short
    length = rows.calls(trusted[0])
    heard = _rows(session, starts, trusted, length, short=short, drain=drained)
    past.late = cross_check.waited(heard.rows)
    if past.late and not (short or drained or heard.said.accuses):
        length = max(rows.FEWEST, cross_check.shortest(said.said))
        if length < heard.length:
            again = _rows(session, starts, trusted, length, short=short, drain=drained)
            past.late = cross_check.waited(again.rows)
            heard = heard if past.late else again
    whole = heard.said
    if short and cross_check.precise(whole, heard.length):
        past.rows.append(heard.rows)
        joined = [_joined(pairs) for pairs in zip(*past.rows, strict=True)]
        whole = cross_check.testimony(joined, row=heard.length)
    both = cross_check.agreed(said, heard.said, heard.length, whole, late=past.late)
    return replace(heard, said=both)


def _rows(
    session: Session,
    starts: Sequence[Start],
    trusted: Sequence[Start],
    length: int,
    *,
    short: bool,
    drain: bool,
) -> Hearing:
    """Rows of that length until they are precise and accuse nobody, or there are many."""
    found, compared = [(Blocks(), Blocks()) for _ in starts], 0
    for count in (BLOCKS if short else LONG_BLOCKS, MORE, MORE):
        each = max(FEWEST, count // len(starts))
        for start, into in zip(starts, found, strict=True):
            compared += rows.in_rows(session, start, each, length, into, drain=drain)
        said = _look(session, found, trusted, row=length, drain=drain)
        if not said.accuses and cross_check.precise(said, length):
            break
    return Hearing(said, found, compared, length)


def _joined(pairs: Sequence[Pair]) -> Pair:
    """All rows of one pair of processes."""
    whole = Blocks(), Blocks()
    for pair in pairs:
        for side, blocks in zip(whole, pair, strict=True):
            side.extend(blocks)
    return whole


def _look(
    session: Session, pairs: Sequence[Pair], trusted: Sequence[Start], *, row: int = 0, drain: bool
) -> Testimony:
    said = cross_check.testimony(pairs, row=row)
    if not said.accuses or (row and not drain and not cross_check.waited(pairs)):
        return said
    waiting = [afterwards(session, start, row, drain=drain, waits=True) for start in trusted]
    return cross_check.testimony(pairs, waiting, row=row)


def afterwards(
    session: Session, start: Start, row: int = 0, *, drain: bool = False, waits: bool = False
) -> Blocks:
    """Blocks of the reference that are no part of a race, with so many calls in a ``row``."""
    eager = Track(EAGER, start.eager.player)
    for _ in range(AFTER):
        if row:
            numbers, seed = rows.numbered(start, row, session.rng)
            rows.row(eager, start, numbers, seed, drain=drain, waits=waits)
        else:
            fresh = start.plan.fresh_for(start.eager_seconds)
            numbers, seed = order(start.plan, session.rng), seed_of(session.rng)
            eager.block(numbers, seed, start.times, fresh, drain=drain, waits=waits)
    return eager.blocks
