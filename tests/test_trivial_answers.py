"""Zeros, constants and copies of an input are wrong on every task of the course."""

import numpy as np
import pytest

from grader.domain.inputs import Drawn
from grader.domain.lessons import Lesson, every
from grader.domain.task import Case, Tensor
from grader.domain.verdict import Status
from grader.referee.comparison import Comparison
from grader.referee.judge import judge
from grader.referee.lesson_problem import LessonProblem
from grader.referee.process import forkserver
from grader.referee.process.player_process import Limits, Player
from grader.referee.session import Session
from grader.referee.side import Reference

TASKS = [lesson for lesson in every() if any(c.expect == "match" for c in lesson.task.cases)]


@pytest.mark.slow(cases=4)
@pytest.mark.parametrize("lesson", TASKS, ids=lambda x: x.name)
def test_zeros_constants_and_copies_fail_on_every_task(lesson: Lesson) -> None:
    """Judged as if a submission had returned them, in every case of some size."""
    parent = forkserver.shared("cpu")["cpu"]
    player = Player("cpu", Limits(), sees=(lesson.reference,), forkserver=parent)
    reference = Reference(player, str(lesson.reference))
    session = Session(lesson.task, str(lesson.reference), lambda: player, reference, LessonProblem)
    problem = session.problem
    assert isinstance(problem, LessonProblem)
    try:
        problem.open()
        right = {"zeros": 0, "a constant": 0, "the mean": 0, "a copy": 0}
        judged = 0
        for case in lesson.task.cases:
            if case.expect != "match" or not _ordinary(case):
                continue
            problem.begin(case)
            for _ in range(problem.draws):
                problem.draw_weights()
                args = problem.arguments(case)
                posed = problem.pose()
                if not posed.says_little:
                    break
            if not posed.tensors:
                continue
            judged += 1
            given = next(a.view() for a in args if isinstance(a, Drawn))
            passed = dict.fromkeys(right, True)
            compared = Comparison(session, case, posed)
            for window in compared.windows():
                answer, eager = compared.wanted(window)
                for name, got in trivial(eager, given).items():
                    verdict = judge(answer, eager, got, (), compared.fair(window.output))
                    known = name == "the mean" and eager.size == 1  # that is the answer itself
                    passed[name] &= verdict.status is Status.PASSED and not known
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
