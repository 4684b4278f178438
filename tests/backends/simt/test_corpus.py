"""Correct CUDA of many kinds: the right results, and no check has anything to say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pytest

from .corpus import library
from .corpus.every import EXPECTED, FILES
from .corpus.expected import HONEST, Expected, values

if TYPE_CHECKING:
    from .conftest import Play


def result(play: Play, name: str) -> npt.NDArray[np.float32]:
    """The floats that a case wrote."""
    answer: Any = play("corpus")[name]
    assert answer["error"] == ""
    return np.array(answer["result"], dtype=np.int32).view(np.float32)


@pytest.mark.slow(cases=1000)
@pytest.mark.parametrize("name", EXPECTED)
def test_the_result_is_right(play: Play, name: str) -> None:
    expected: Expected = EXPECTED[name]
    x = values(name, expected.n).astype(np.float64)
    want = np.asarray(expected.model(x), dtype=np.float64).reshape(-1)
    got = result(play, name)[: len(want)].astype(np.float64)
    known = ~np.isnan(want)  # the others are not specified
    if expected.tolerance:
        np.testing.assert_allclose(got[known], want[known], rtol=expected.tolerance, atol=expected.tolerance)
    else:
        np.testing.assert_array_equal(got[known], want.astype(np.float32)[known])


@pytest.mark.slow(cases=1000)
@pytest.mark.parametrize("name", EXPECTED)
def test_nothing_is_found(play: Play, name: str) -> None:
    found = play("corpus")[name]["findings"]
    assert found == [], [(f["kind"], f["line"], f["what"]) for f in found]


def test_every_case_has_a_model() -> None:
    assert {case for file in FILES for case in library.cases(file)} == set(EXPECTED)


def test_there_are_enough_honest_kernels() -> None:
    assert len(HONEST) >= 40
