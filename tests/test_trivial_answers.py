"""Zeros, constants and copies of an input are wrong on every task of the course."""

import numpy as np
import pytest

from grader.domain.lessons import Lesson, every
from grader.domain.task import Case, Tensor
from grader.domain.verdict import Status
from grader.referee import draw
from grader.referee.case_calls import DRAWS
from grader.referee.judge import judge
from grader.referee.process.player_process import Limits, Player
from grader.referee.reference import Oracle

TASKS = [lesson for lesson in every() if any(c.expect == "match" for c in lesson.task.cases)]


@pytest.mark.parametrize("lesson", TASKS, ids=lambda x: x.name)
def test_zeros_constants_and_copies_fail_on_every_task(lesson: Lesson) -> None:
    """Judged as if a submission had returned them, in every case of some size."""
    rng = draw.generator()
    player = Player("cpu", Limits(), sees=(lesson.reference,))
    try:
        oracle = Oracle(player, lesson.task)
        oracle.load(str(lesson.reference))
        right = {"zeros": 0, "a constant": 0, "the mean": 0, "a copy": 0}
        judged = 0
        for case in lesson.task.cases:
            if case.expect != "match" or not _ordinary(case):
                continue
            model = lesson.task.kind == "model" and not case.entry
            if model:
                oracle.construct(list(case.init))
            for _ in range(DRAWS):
                if model:
                    oracle.new_weights(rng)
                args = [draw.draw(a, rng) if isinstance(a, Tensor) else a for a in case.args]
                expected = oracle.expect(case, args)
                if not expected.says_little:
                    break
            if expected.is_value:
                continue
            judged += 1
            given = next(a.view() for a in args if isinstance(a, draw.Drawn))
            passed = dict.fromkeys(right, True)
            for answer, eager in zip(expected.answers, expected.eager, strict=True):
                for name, got in trivial(eager, given).items():
                    passed[name] &= judge(answer, eager, got).status is Status.PASSED
            for name in right:
                right[name] += passed[name]
        assert not judged or not any(right.values()), right
    finally:
        player.stop()


def _ordinary(case: Case) -> bool:
    shapes = [a.shape for a in case.args if isinstance(a, Tensor)]
    return bool(shapes) and all(np.prod(s) >= 16 for s in shapes)


def trivial(eager: np.ndarray, given: np.ndarray) -> dict[str, np.ndarray]:
    """What costs nothing to return; a copy is cut or repeated to the right size."""
    mean = np.nan_to_num(eager.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0).mean()
    return {
        "zeros": np.zeros_like(eager),
        "a constant": np.full_like(eager, 1),
        "the mean": np.full_like(eager, mean),
        "a copy": np.resize(given, eager.shape).astype(eager.dtype),
    }
