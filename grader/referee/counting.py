"""Counting runs of a submission that has passed: outside the cases, without points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grader.domain.task import Case
from grader.referee import transport
from grader.referee.process.player_process import Player

if TYPE_CHECKING:
    from grader.referee.session import Match

SECONDS = 120.0


def count(match: Match, case: Case) -> list[dict[str, Any]]:
    """Run ``case`` once with counting on; the launches that the CPU back end saw, with what they moved."""
    player, fields = _ready(match, case)
    player.ask("count", SECONDS, on=True)
    answer = player.ask("call", SECONDS, entry=case.entry or match.task.entry, **fields)
    player.ask("count", SECONDS, on=False)
    return answer.launches


def _ready(match: Match, case: Case) -> tuple[Player, dict[str, Any]]:
    """The submission's player with the case's model made, and the fields of a call that keeps no output."""
    match.revive()
    assert match.player is not None
    if match.task.kind == "model":
        match.construct(case)
        match.new_weights()
    fields, _, _ = transport.offer(match.player, match.arguments(case), [])
    return match.player, fields | {"after": []}
