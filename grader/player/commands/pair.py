"""A pair of files, from either side: the reference poses a problem, the submission is called with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grader.player.pairs import pieces
from grader.player.pairs.answering import Reference
from grader.player.pairs.measuring import measured
from grader.player.pairs.pair_session import PairSide
from grader.player.pairs.subject import Subject

if TYPE_CHECKING:
    from grader.player.commands import Callback
    from grader.player.stage import Stage

OF_REFERENCE = {"begin", "weights", "draw", "answer", "block", "nudge", "judge"}
OF_SUBJECT = {"make", "take", "move", "call"}


def perform(stage: Stage, callback: Callback, step: str, side: str, **fields: Any) -> dict[str, Any]:
    """One step of ``side`` ("reference" or "subject"): see the methods of that name there.

    "room" makes place for tensors; "read" and "write" copy pieces to and from the shared memory.
    """
    if step == "measure":
        return measured(stage, **fields)
    session: PairSide | None = stage.pair_side
    if session is None:
        session = stage.pair_side = Reference(stage) if side == "reference" else Subject(stage)
    if step == "read":
        pieces.read(session.flat, stage.outbox, fields["pieces"])
        return {}
    if step == "write":
        pieces.write(session.flat, stage.inbox, fields["pieces"])
        return {}
    if step == "room":
        session.room(**fields)
        return {}
    if step not in (OF_REFERENCE if side == "reference" else OF_SUBJECT):
        raise ValueError(f"there is no step {step!r}")
    done = getattr(session, step)(**fields)
    assert isinstance(done, dict)
    return done
