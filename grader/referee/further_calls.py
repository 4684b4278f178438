"""Calls after the last case, of any case that is right and cheap: nobody can foresee how many, or of which.

A submission that is right in its first calls only, or that goes by the order of the cases, meets these.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader.domain.task import Tensor
from grader.domain.verdict import PENDING, Finding
from grader.referee import rounds
from grader.referee.case_calls import Calls
from grader.referee.fault import FaultError
from grader.referee.problem import LeftOutError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.task import Case
    from grader.referee.rounds import Round
    from grader.referee.session import Session

LEAST, MOST = 24, 300  # calls in all
LEAST_S, MOST_S = 0.1, 0.25  # seconds in all, once there were so many calls as are the least
CHEAP_BYTES, CHEAP_S = 1 << 17, 0.25  # of a call; the seconds leave room for a machine that is busy
BURST = 9  # calls of one case in a row, at most
MOST_SWEPT, FOLLOWED = 12, 2  # cases that are played once each before any is drawn, and their calls
WATCHED = 0.2  # share of calls in which it is observed what ran
# Half of them repeat the call before, to find a result that varies at random: by luck it is the same in one
# repetition of two. A burst begins with new values anyway.
FUNCTION = (rounds.REFILL, rounds.MOVE, rounds.MOVE, rounds.SWAP)
FURTHER = (
    "It was right in the first calls, and this is a further one: look at what is kept from call to call, and "
    "at what depends on the calls before."
)
MODEL = (rounds.REFILL, *[rounds.MOVE] * 4, rounds.REWEIGH, rounds.SWAP_MODEL, rounds.RENEW)


@dataclass(slots=True)
class Played:
    """A case that was right; of each of its calls, the ``seconds`` and the bytes of inputs and results."""

    case: Case
    seconds: float
    nbytes: int
    calls: int = 0  # that were made since


@dataclass(frozen=True, slots=True)
class Wrong:
    """A case that is right no longer."""

    case: Case
    finding: Finding


def play(session: Session, right: list[Played]) -> Wrong | None:
    """Call until the drawn number of calls or seconds is over; the first call that is wrong."""
    rng = session.rng
    cheap = [one for one in right if one.nbytes < CHEAP_BYTES and one.seconds < CHEAP_S]
    left, end = int(rng.integers(LEAST, MOST)), time.monotonic() + rng.uniform(LEAST_S, MOST_S)
    enough = left - LEAST
    swept = [cheap[int(n)] for n in rng.permutation(len(cheap))[:MOST_SWEPT]]
    while cheap and session.player and (
        swept or (left > 0 and (left > enough or time.monotonic() < end))
    ):  # fmt: skip
        one, count = cheap[int(rng.integers(len(cheap)))], min(left, int(rng.integers(1, BURST)))
        if swept:
            one, count = swept.pop(), FOLLOWED
        try:
            if failed := _burst(session, one, count):
                return Wrong(one.case, failed)
        except LeftOutError:  # these values are none that the problem can be asked with
            cheap.remove(one)
        left -= count
    return None


def _burst(session: Session, one: Played, count: int) -> Finding | None:
    session.begin(one.case)
    case = replace(one.case, why="")  # what it was for is answered: something else is wrong
    try:
        failed = Calls(session, case).play(_drawn(session, count), first=one.calls + 1)
    except FaultError as fault:
        failed = session.fallen(case, fault)
    one.calls += count
    return replace(failed, message=f"{failed.message} {FURTHER}") if failed else None


def _drawn(session: Session, count: int) -> Iterator[tuple[Round, bool]]:
    """So many rounds in any order, the first of them with new inputs."""
    rng, kinds = session.rng, MODEL if session.problem.has_weights else FUNCTION
    yield rounds.FIRST, bool(rng.random() < WATCHED)
    if count > 1:
        yield rounds.FOLLOWED, False
    for _ in range(count - 2):
        yield kinds[int(rng.integers(len(kinds)))], bool(rng.random() < WATCHED)


def may_follow(case: Case, finding: Finding) -> bool:
    """Whether a case is right as far as it can be told here, and has something to compare."""
    empty = any(isinstance(a, Tensor) and 0 in a.shape for a in case.args)
    right = finding.ok or finding.status in PENDING
    return right and case.expect == "match" and not empty
