"""Large results are judged in pieces, with the same outcome as all at once."""

from __future__ import annotations

import numpy as np
import pytest

from grader.domain.verdict import Status
from grader.referee import judge


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "LARGE", 64)
    monkeypatch.setattr(judge, "PIECE", 16)


@pytest.mark.parametrize("at", [None, 0, 17, 99])
@pytest.mark.parametrize("value", [np.nan, np.inf, 3.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_in_pieces_as_all_at_once(at: int | None, value: float, dtype: type) -> None:
    rng = np.random.default_rng(5)
    answer = rng.standard_normal((10, 10)) * 100
    answer[2, 3], answer[4, 4] = np.inf, np.nan
    if np.dtype(dtype).kind == "i":
        answer = np.arange(100.0).reshape(10, 10)
        value = 3.0
    eager = answer.astype(dtype)
    got = eager.copy()
    if at is not None:
        got.reshape(-1)[at] = value
    passed = judge.judge(answer, eager, got).status is Status.PASSED
    assert judge.right(answer, eager, got) is passed
    assert passed is (at is None)


def test_the_error_that_is_fair_is_that_of_all_elements() -> None:
    """One element far off in eager float32 allows others, in other pieces, to be off as well."""
    answer = np.zeros((8, 16))
    eager = answer.astype(np.float32)
    eager[0, 0] = 1e-3
    got = eager.copy()
    got[7, 7] = 1e-2
    assert judge.judge(answer, eager, got).status is Status.PASSED
    assert judge.right(answer, eager, got)
    got[7, 7] = 3e-2
    assert not judge.right(answer, eager, got)


def test_elements_one_by_one_in_pieces_as_all_at_once() -> None:
    """Whether the framework is accurate in each is a matter of all elements, too."""
    answer = 10.0 ** np.linspace(-6, 6, 128)
    by = judge.by_element(judge.fair(np.float32), 1.0, 1.0)
    eager, got = answer.astype(np.float32), answer.astype(np.float32)
    got[40] = 0  # of a million at the other end nobody would miss it
    assert judge.judge(answer, eager, got).status is Status.PASSED
    assert not judge.right(answer, eager, got, by)
    eager[100] *= 1.001  # no longer accurate in each
    assert judge.right(answer, eager, got, by)
