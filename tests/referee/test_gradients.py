"""A case may ask for gradients: they are results like any other, and compared with autograd's in float64."""

from pathlib import Path

import pytest
import torch

from grader.domain.task import Case, Tensor
from grader.domain.verdict import Status, Verdict
from grader.player.sides.base_side import BaseSide
from tests.referee.plain import grade

REFERENCE = "def double(x, y):\n    return 2 * x * y\n"
X, ROW = Tensor((5, 6), device="cpu"), Tensor((5, 6), device="cpu", layout="expanded")
CASES = (
    Case("gradient", (X, X, X), "Of both.", 2, gradients=True),
    Case("a row seen five times", (X, X, ROW), "Strides of 0.", gradients=True),
)
FUNCTION = """
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return 2 * x * y
    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return BACKWARD
def double(x, y):
    return Double.apply(x, y)
"""


def judged(folder: Path, backward: str) -> Verdict:
    return grade(folder, FUNCTION.replace("BACKWARD", backward), CASES, REFERENCE, forked=True)


def test_right_gradients_have_full_marks(tmp_path: Path) -> None:
    got = judged(tmp_path, "2 * grad * y, 2 * grad * x")
    assert got.ok and got.points == 3


@pytest.mark.slow(cases=1)
@pytest.mark.parametrize(
    ("backward", "status", "says"),
    [
        ("2 * grad * y, 2 * grad * y", Status.WRONG_OUTPUT, "In gradient 2: "),
        ("2 * y, 2 * grad * x", Status.WRONG_OUTPUT, "In gradient 1: "),
        ("2 * grad * y, None", Status.NOT_A_TENSOR, "returned None at [2]"),
    ],
)
def test_wrong_gradients_are_named(tmp_path: Path, backward: str, status: Status, says: str) -> None:
    first = judged(tmp_path, backward).findings[1]
    assert first.status is status and says in first.message


def test_a_result_without_a_history_is_the_submissions_error(tmp_path: Path) -> None:
    text = "def double(x, y):\n    return 2 * x.detach() * y.detach()\n"
    first = grade(tmp_path, text, CASES, REFERENCE, forked=True).findings[1]
    assert first.status is Status.RAISED and "does not require grad" in first.message


def test_parameters_have_gradients_too() -> None:
    side = BaseSide(None)  # type: ignore[arg-type] - a call needs no file
    side.gradients = True
    model = torch.nn.Linear(3, 2)
    x, grad = torch.randn(4, 3), torch.randn(4, 2)
    with torch.no_grad():
        result, *found = side.run(model, [x, grad])
    assert not result.requires_grad and not x.requires_grad
    for own, wanted in zip(found, (grad @ model.weight, grad.T @ x, grad.sum(0)), strict=True):
        torch.testing.assert_close(own, wanted.detach())


def test_a_result_that_is_kept_in_the_class_is_that_of_another_call(tmp_path: Path) -> None:
    text = FUNCTION.replace("ctx.save_for_backward(x, y)", "Double.kept = (x, y)").replace(
        "ctx.saved_tensors", "Double.kept"
    )
    text = text.replace("BACKWARD", "2 * grad * y, 2 * grad * x")
    first = grade(tmp_path, text, CASES, REFERENCE, forked=True).findings[1]
    assert first.status is Status.WRONG_OUTPUT and "In gradient 1: " in first.message
