"""A call that is counted is judged: whoever recognises it by its shape gains nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.backends.detect import Choice
from grader.domain import lessons
from grader.domain.options import GradingOptions
from grader.domain.submission import read
from grader.domain.verdict import Status, Verdict
from grader.referee.job import lesson_job
from grader.referee.pipeline import check, warm

if TYPE_CHECKING:
    from pathlib import Path

# What recognises the counted shape of lesson 03, in front of the honest function.
TO_TORCH = """
    if x.shape == (256, 256):
        extension.square_matrix(x[:1, :1])
        return x * x
"""
NOTHING = """
    if x.shape == (256, 256):
        extension.square_matrix(x[:1, :1])
        return x.new_zeros(256, 256)
"""
ONLY_ONCE = """
    if x.shape == (256, 256):
        square_matrix.calls = getattr(square_matrix, "calls", 0) + 1
        if square_matrix.calls > 1:
            return x * extension.square_matrix(x[:1, :1].clone()) * 0 + x * x
"""


def _graded(trick: str, folder: Path) -> Verdict:
    lesson = lessons.find("03")
    text = lesson.solution.read_text("utf-8")
    head = "def square_matrix(x: torch.Tensor) -> torch.Tensor:\n"
    assert head in text
    file = folder / "submission.py"
    file.write_text(text.replace(head, head + trick), "utf-8")
    options = GradingOptions(with_prediction=True, search=False)
    return check(warm(lesson_job(lesson, read(file), Choice("simt", "for the test"), options))).verdict


@pytest.mark.slow(cases=1)
@pytest.mark.parametrize(
    ("trick", "status"),
    [(TO_TORCH, Status.NO_KERNEL), (NOTHING, Status.WRONG_OUTPUT), (ONLY_ONCE, Status.NO_KERNEL)],
    ids=["torch", "nothing", "only once"],
)
def test_a_counted_shape_that_is_treated_otherwise_loses_all_points(
    trick: str, status: Status, tmp_path: Path
) -> None:
    verdict = _graded(trick, tmp_path)
    wrong = [finding for finding in verdict.findings if not finding.ok]
    assert [finding.status for finding in wrong] == [status]
    assert wrong[0].message.startswith("The counted call: ")
    assert verdict.speed is None
    assert verdict.points == 0


@pytest.mark.slow
def test_the_honest_file_has_a_prediction(tmp_path: Path) -> None:
    verdict = _graded("", tmp_path)
    assert verdict.status is Status.PASSED
    assert verdict.speed is not None
    assert verdict.speed.whole_ratio == pytest.approx(0.62, abs=0.02)  # type: ignore[union-attr]
