"""The work that comes before a row of calls: nobody has its result without having done it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from grader.player.timing import busy_work
from grader.player.timing.busy_work import keep_busy, matrices, size_for
from grader.referee.timing.back_to_back import SAME_WORK

SIZE = 64


def mean(steps: int, seed: int) -> float:
    return float(keep_busy(SIZE, steps, seed, "cpu"))


def test_the_result_is_that_of_so_many_products_and_magnitudes() -> None:
    weights, _, _, source = matrices(SIZE, "cpu")
    source.manual_seed(5)
    x = torch.empty(SIZE, SIZE, dtype=torch.float64).uniform_(generator=source).numpy()
    for _ in range(30):
        x = np.abs(x @ weights.numpy())
    assert mean(30, 5) == pytest.approx(float(x.mean()), rel=1e-12)


def test_neither_another_start_nor_a_step_less_gives_the_same() -> None:
    right = mean(60, 5)
    assert mean(60, 5) == right and 1e-3 < right < 1e3
    for steps, seed in ((59, 5), (61, 5), (60, 6), (30, 5)):
        assert abs(mean(steps, seed) - right) > 100 * SAME_WORK * right


def test_single_precision_is_not_enough() -> None:
    weights, _, _, source = matrices(SIZE, "cpu")
    source.manual_seed(5)
    x = torch.empty(SIZE, SIZE, dtype=torch.float64).uniform_(generator=source).float()
    for _ in range(60):
        x = (x @ weights.float()).abs()
    right = mean(60, 5)
    assert abs(float(x.double().mean()) - right) > SAME_WORK * right


def test_a_submission_that_wants_deterministic_algorithms_keeps_them() -> None:
    torch.use_deterministic_algorithms(True)
    try:
        mean(1, 1)
        assert torch.are_deterministic_algorithms_enabled()
    finally:
        torch.use_deterministic_algorithms(False)


def test_a_step_takes_long_enough_to_be_asked_for_in_time() -> None:
    assert size_for(lambda size: size * 0.1e-6) == (1024, pytest.approx(102.4e-6))
    assert size_for(lambda size: 1e-3) == (busy_work.SMALLEST, 1e-3)
    assert size_for(lambda size: 0.0) == (busy_work.LARGEST, 0.0)
