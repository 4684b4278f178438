"""Counting and timing runs of a submission that has passed: outside the cases, without points."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from grader.referee import exchange
from grader.referee.process import Player
from grader.task import Case

if TYPE_CHECKING:
    from grader.referee.conduct import Match

BLOCK = 20
ROUNDS = 5
SECONDS = 120.0


def count(match: Match, case: Case) -> list[dict[str, Any]]:
    """Run ``case`` once with counting on; the launches that the CPU back end saw, with what they moved."""
    player, fields = _ready(match, case)
    player.ask("count", SECONDS, on=True)
    answer = player.ask("call", SECONDS, entry=case.entry or match.task.entry, **fields)
    player.ask("count", SECONDS, on=False)
    return answer.launches


def race(match: Match, case: Case) -> tuple[list[float], list[float]]:
    """Seconds of single calls of the submission and of the reference, taken in turns on one GPU."""
    player, fields = _ready(match, case)
    other, task = match.oracle.player, match.task
    theirs, _, _ = exchange.offer(other, match.arguments(case), [])
    times: tuple[list[float], list[float]] = ([], [])
    _block(player, case.entry or task.entry, fields, BLOCK)  # warm-up of both, not kept
    _block(other, task.reference_entry or task.entry, theirs, BLOCK)
    for _ in range(ROUNDS):
        for side in (0, 1, 1, 0):
            if side:
                times[1].extend(_block(other, task.reference_entry or task.entry, theirs, BLOCK))
            else:
                times[0].extend(_block(player, case.entry or task.entry, fields, BLOCK))
    return times


def _block(player: Player, entry: str, fields: dict[str, Any], calls: int) -> list[float]:
    answer = player.ask("time", SECONDS, entry=entry, args=fields["args"], calls=calls)
    seconds = answer.data.get("seconds")
    if not isinstance(seconds, list) or len(seconds) != calls:
        return []
    return [float(s) for s in seconds if isinstance(s, (int, float)) and math.isfinite(s) and s > 0]


def _ready(match: Match, case: Case) -> tuple[Player, dict[str, Any]]:
    """The submission's player with the case's model made, and the fields of a call that keeps no output."""
    match.revive()
    assert match.player is not None
    if match.task.kind == "model":
        match.construct(case)
        match.new_weights()
    fields, _, _ = exchange.offer(match.player, match.arguments(case), [])
    return match.player, fields | {"after": []}
