"""Where values span many magnitudes small elements count too, and honest formulas that lose digits pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from grader.domain.verdict import Status
from grader.referee.judge import Judgement, by_element, fair, judge

Array = NDArray[Any]
Formula = Callable[[Array], Any]
ONE, HALF = np.float32(1), np.float32(0.5)
SCALES = (1e-3, 1.0, 8.0, 1e3)  # the variants of inputs that a pair tries


def exp8(x: Array) -> Any:
    return np.exp(8 * x)


def sigmoid(x: Array) -> Any:
    return 1 / (1 + np.exp(-x))


def softplus(x: Array) -> Any:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def variance(x: Array) -> Any:
    return x.var(axis=1)


def cube(x: Array) -> Any:
    return (x - 1) ** 3


def judged(right: Formula, formula: Formula, scale: float = 1.0, seed: int = 1) -> Judgement:
    """The formula in float32 against ``right`` in float64; the framework computes ``right`` in float32."""
    x = (np.random.default_rng(seed).standard_normal((24, 400)) * scale).astype(np.float32)
    with np.errstate(all="ignore"):
        answer, eager, got = right(x.astype(np.float64)), right(x), formula(x)
    by = by_element(fair(np.float32), float(np.abs(x).max()), 400)
    assert eager.dtype == got.dtype == np.float32
    return judge(answer, eager, got, (), by)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(
    ("right", "formula"),
    [
        (sigmoid, lambda x: HALF * np.tanh(HALF * x) + HALF),
        (sigmoid, lambda x: ONE - sigmoid(-x)),
        (softplus, lambda x: np.where(x > 20, x, np.log(ONE + np.exp(x)))),
        (variance, lambda x: (x * x).mean(axis=1) - x.mean(axis=1) ** 2),
        (cube, lambda x: x * x * x - 3 * x * x + 3 * x - ONE),
        (np.tanh, lambda x: ONE - 2 / (np.exp(2 * x) + ONE)),
        (np.expm1, lambda x: np.exp(x) - ONE),
        (np.exp, lambda x: np.exp2(x * np.float32(1.4426950408889634))),
        (np.exp, lambda x: np.where(np.exp(x) < 1.2e-38, np.float32(0), np.exp(x))),
    ],
    ids=["tanh", "one less", "log(1+exp)", "squares", "expanded", "tanh by exp", "exp-1", "exp2", "flushed"],
)
def test_honest_formulas_pass(right: Formula, formula: Formula, scale: float) -> None:
    plainly = judge_without(right, formula, scale)
    assert plainly.status is not Status.PASSED or judged(right, formula, scale).status is Status.PASSED


def judge_without(right: Formula, formula: Formula, scale: float) -> Judgement:
    x = (np.random.default_rng(1).standard_normal((24, 400)) * scale).astype(np.float32)
    with np.errstate(all="ignore"):
        return judge(right(x.astype(np.float64)), right(x), formula(x))


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        (lambda x: np.where(x > -0.4, exp8(x), np.float32(0)), "0"),
        (lambda x: np.where(x > 0.7, exp8(x), np.float32(0)), "0"),
        (lambda x: np.where(x > -0.4, exp8(x), HALF), "0.5"),
        (lambda x: np.where(x > 0, exp8(x), exp8(x) * np.float32(1.1)), ""),
    ],
)
def test_small_elements_are_compared_too(formula: Formula, value: str) -> None:
    found = judged(exp8, formula)
    assert judge_without(exp8, formula, 1.0).status is Status.PASSED
    assert found.status is Status.WRONG_OUTPUT and found.evidence["small"]
    assert f"is {value}" in found.message and "Beside the largest answer" in found.message
    assert "is the most that it may be off" in found.message and "precision" not in found.message


def test_where_the_framework_is_not_accurate_in_each_nobody_need_be() -> None:
    """A sum whose terms cancel: the framework's own small elements have few digits."""

    def sums(x: Array) -> Any:
        return np.cumsum(x * 1000, axis=1)[:, -1] - np.cumsum(x[:, ::-1] * 1000, axis=1)[:, -1] + x[:, 0]

    assert judged(sums, lambda x: sums(x) + np.float32(0.001)).status is Status.PASSED
