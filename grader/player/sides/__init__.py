"""The two sides of a call: the reference, which poses and answers, and the submission, which is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader.player.sides.reference_side import ReferenceSide
from grader.player.sides.submission_side import SubmissionSide
from grader.protocol import play

if TYPE_CHECKING:
    from grader.player.sides.base_side import BaseSide
    from grader.player.stage import Stage
    from grader.protocol.wire import Json


def perform(stage: Stage, side: str, steps: list[object]) -> Json:
    """The steps of one side of a call, in order; the answer of the last."""
    answer: msgspec.Struct = play.Done()
    mine = side_of(stage, side)
    for step in play.steps(steps):
        answer = mine.perform(step)
    data: Json = msgspec.to_builtins(answer)
    return data


def side_of(stage: Stage, side: str) -> BaseSide:
    """The side of that name in this process. A process is only ever one of them, but for tests."""
    if side != "reference":
        return stage.kept(SubmissionSide, lambda: SubmissionSide(stage))
    return stage.kept(ReferenceSide, lambda: ReferenceSide(stage))
