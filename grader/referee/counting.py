"""Counting runs of a submission that has passed: outside the cases, without points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grader.domain.task import Case
from grader.protocol.messages import Launch
from grader.referee import transport
from grader.referee.process.player_process import Player

if TYPE_CHECKING:
    from grader.referee.session import Session

SECONDS = 120.0


def count(session: Session, case: Case) -> tuple[Launch, ...]:
    """Run ``case`` once with counting on; the launches that the CPU back end saw, with what they moved."""
    player, fields = _ready(session, case)
    player.ask("count", SECONDS, on=True)
    answer = player.ask("call", SECONDS, entry=case.entry or session.task.entry, **fields)
    player.ask("count", SECONDS, on=False)
    return answer.launches


def _ready(session: Session, case: Case) -> tuple[Player, dict[str, Any]]:
    """The submission's player with the case's model made, and the fields of a call that keeps no output."""
    session.revive()
    assert session.player is not None
    if session.task.kind == "model":
        session.problem.construct(case)
        session.problem.new_weights()
    fields, _, _ = transport.offer(session.player, session.problem.arguments(case), [])
    return session.player, fields | {"after": []}
