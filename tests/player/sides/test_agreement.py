"""What the reference's side settles is what the referee would have said."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.domain.verdict import Status
from grader.player.sides.agreement import agrees, distance, identical, slack_of
from grader.protocol import play
from grader.referee import dtypes
from grader.referee.judge import judge

ODD = (np.nan, np.inf, -np.inf, 0.0, 1e38, -1e38, 1e-44, 1.0)


@settings(deadline=None, max_examples=300)
@given(
    st.integers(0, 1 << 30), st.sampled_from(["float16", "bfloat16", "float32", "float64"]),
    st.floats(0.0, 4e-2), st.sampled_from(ODD), st.sampled_from(ODD), st.booleans(),
    st.sampled_from([0.0, 1e-9, 1e-3]), st.booleans(),
)  # fmt: skip
def test_it_is_the_measure_of_the_referee(
    seed: int, dtype: str, off: float, odd: float, other: float, agree: bool, small: float, spread: bool
) -> None:
    rng = np.random.default_rng(seed)
    answer = rng.standard_normal(60) * 10.0 ** rng.integers(-3, 4, 60 if spread else 1)
    answer[7] = odd
    kind = getattr(torch, dtype)
    exact = torch.from_numpy(answer)
    eager = (exact * (1 + 1e-8 * torch.from_numpy(rng.standard_normal(60)))).to(kind)
    got = (exact * (1 + off * torch.from_numpy(rng.random(60)))).to(kind)
    got[7] = eager[7] if agree else other
    by = dtypes.tolerance(dtype, 50.0)
    by = by and replace(by, small=small)
    read = [t.float().numpy() if dtype == "bfloat16" else t.numpy() for t in (eager, got)]
    expected = judge(answer, read[0], read[1], (), by).status is Status.PASSED
    assert by is not None
    assert agrees(exact, eager, got, play.Fair(**asdict(by))) is expected
    allowed = judge(answer, read[0], read[0], (), by).evidence["allowed_error"]
    largest = np.abs(answer[np.isfinite(answer) & (np.abs(answer) <= by.largest)]).max()
    assert slack_of(exact, eager, play.Fair(**asdict(by))) == [pytest.approx(allowed / largest)]


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.bool])
def test_whole_numbers_are_the_exact_ones_or_the_frameworks(dtype: torch.dtype) -> None:
    answer, eager = torch.tensor([1, 0, 1, 1]).to(dtype), torch.tensor([1, 1, 1, 0]).to(dtype)
    assert agrees(answer, eager, torch.tensor([1, 1, 1, 1]).to(dtype), None)
    assert not agrees(answer, eager, torch.tensor([0, 1, 1, 1]).to(dtype), None)


def test_distances_know_what_is_not_finite() -> None:
    answer = torch.tensor([1.0, torch.inf, torch.nan], dtype=torch.float64)
    assert distance(answer, torch.tensor([1.5, torch.inf, torch.nan])) == 0.5
    assert distance(answer, torch.tensor([1.0, 2.0, torch.nan])) == torch.finfo(torch.float64).max
    assert distance(answer, torch.tensor([1.0, torch.inf, 0.0])) == torch.finfo(torch.float64).max
    assert distance(answer[:0], torch.zeros(0)) == 0.0


def test_bits_are_compared_not_values() -> None:
    row = torch.tensor([0.0, torch.nan])
    assert identical(row, row.clone())
    assert not identical(row, torch.tensor([-0.0, torch.nan]))
    assert not identical(row, row.double())
