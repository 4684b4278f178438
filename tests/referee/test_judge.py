"""The judge: what passes, what does not, and what is said about it."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.domain.verdict import Status
from grader.referee.judge import by_element, fair, judge, right

RNG = np.random.default_rng(7)


def gemm(rows: int = 24, k: int = 512, columns: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    a, b = RNG.standard_normal((rows, k)), RNG.standard_normal((k, columns)) / k**0.5
    a32, b32 = a.astype(np.float32), b.astype(np.float32)
    return a32.astype(np.float64) @ b32.astype(np.float64), a32 @ b32, np.stack([a32[:, :1] * 0])


def tf32(x: np.ndarray) -> np.ndarray:
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x1000) & 0xFFFFE000).view(np.float32)


def test_another_order_of_summation_passes() -> None:
    a = RNG.standard_normal((24, 512)).astype(np.float32)
    b = (RNG.standard_normal((512, 40)) / 22).astype(np.float32)
    other = np.zeros((24, 40), np.float32)
    for k in range(512):  # one product at a time, the least accurate honest order
        other += np.outer(a[:, k], b[k])
    verdict = judge(a.astype(np.float64) @ b.astype(np.float64), a @ b, other)
    assert verdict.status is Status.PASSED, verdict


def test_what_is_allowed_does_not_depend_on_how_well_the_largest_element_was_met() -> None:
    answer = np.exp(np.linspace(0.0, 28.0, 15))
    eager = answer.astype(np.float32)
    eager[:-1] *= np.float32(1 + 2.0**-23)  # off by a rounding nearly everywhere
    answer[-1] = eager[-1]  # but not where it would count
    got = eager.copy()
    got[-1] *= np.float32(1 + 12 * 2.0**-23)
    by = by_element(fair(np.float32), 28.0, 1)
    assert judge(answer, eager, got, (), by).status is Status.PASSED
    got[-1] = eager[-1] * np.float32(1 + 60 * 2.0**-23)
    assert judge(answer, eager, got, (), by).status is not Status.PASSED
    exact = answer.astype(np.float32)  # such as a copy, where nothing is rounded
    got = exact.copy()
    got[-1] *= np.float32(1 + 12 * 2.0**-23)
    assert judge(exact.astype(np.float64), exact, got, (), by).status is not Status.PASSED


@pytest.mark.parametrize("lower", [tf32, lambda x: x.astype(np.float16).astype(np.float32)])
def test_low_precision_inside_is_called_so(lower) -> None:
    a = RNG.standard_normal((24, 512)).astype(np.float32)
    b = (RNG.standard_normal((512, 40)) / 22).astype(np.float32)
    verdict = judge(a.astype(np.float64) @ b.astype(np.float64), a @ b, lower(a) @ lower(b))
    assert verdict.status is Status.PRECISION
    assert "half precision or TF32" in verdict.message


def test_one_wrong_element_is_found_wherever_it_is() -> None:
    answer, eager, _ = gemm()
    for place in [(0, 0), (23, 39), (11, 7)]:
        got = eager.copy()
        got[place] += 0.01
        verdict = judge(answer, eager, got)
        assert verdict.status is Status.WRONG_OUTPUT
        assert verdict.evidence["first_wrong"] == list(place)
        assert verdict.evidence["wrong_elements"] == 1


def test_nan_and_infinity_must_stay_what_they_are() -> None:
    eager = np.array([1.0, np.nan, np.inf, -np.inf], np.float32)
    answer = eager.astype(np.float64)
    assert judge(answer, eager, eager.copy()).status is Status.PASSED
    for place, value in [(1, 0.0), (2, -np.inf), (3, np.nan), (2, 3e38)]:
        got = eager.copy()
        got[place] = value
        assert judge(answer, eager, got).status is not Status.PASSED, (place, value)


def test_elements_that_no_thread_wrote_are_called_the_same_wherever_infinities_were_drawn() -> None:
    for answer in ([1.0, np.nan, 4.0, 2.0], [1.0, np.inf, 4.0, 2.0], [1.0, -np.inf, np.inf, 2.0]):
        eager = np.array(answer, np.float32)
        unwritten = eager.copy()
        unwritten[1:3] = np.nan
        verdict = judge(eager.astype(np.float64), eager, unwritten)
        assert verdict.status is Status.NOT_FINITE, answer
    eager, other = np.array([1.0, np.inf], np.float32), np.array([1.0, -np.inf], np.float32)
    assert judge(eager.astype(np.float64), eager, other).status is Status.WRONG_OUTPUT


def test_what_float32_cannot_hold_is_infinite() -> None:
    answer = np.array([1e60, 2.0])
    eager = np.array([np.inf, 2.0], np.float32)
    assert judge(answer, eager, eager.copy()).status is Status.PASSED


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda e: np.zeros_like(e), "all zeros"),
        (lambda e: np.full_like(e, np.nan), "all 960 elements are NaN"),
        (lambda e: np.full_like(e, 0.25), "the same value 0.25 everywhere"),
        (lambda e: 2 * e, "everything is 2 times"),
        (lambda e: np.where(np.arange(40) >= 27, 9, e), "every element of the last 13 columns"),
        (lambda e: np.where(np.arange(24)[:, None] >= 20, 9, e), "every element of the last 4 rows"),
        (lambda e: np.where(np.arange(24)[:, None] == 0, 9, e), "every element of row 0, and nothing else"),
        (lambda e: np.where(np.arange(24)[:, None] > 0, 9, e), "but those of row 0"),
        (lambda e: np.where(np.arange(40) % 4 == 3, 9, e), "every 4th column, beginning at column 3"),
        (
            lambda e: np.where(np.arange(960).reshape(24, 40) >= 512, 9, e),
            "every element from flat index 512",
        ),
        (lambda e: np.where(np.arange(960).reshape(24, 40) < 77, 9, e), "the first 77 of 960"),
        (lambda e: np.where(np.arange(960).reshape(24, 40) < 1, 9, e), "the first of 960 elements"),
        (lambda e: np.where(np.arange(960).reshape(24, 40) > 958, 9, e), "the last of 960 elements"),
        (lambda e: e.T.reshape(e.shape), "first those of the expected column 0"),
    ],
)
def test_patterns_are_named(make, words) -> None:
    answer, eager, _ = gemm()
    verdict = judge(answer, eager, make(eager).astype(np.float32))
    assert words in verdict.message, verdict.message


def test_a_fault_that_goes_by_the_sign_of_an_input_is_told() -> None:
    x = RNG.standard_normal((24, 40)).astype(np.float32)
    right = x + 2
    for wrong, words in (
        (np.where(x < 0, 9, right), "elements where input 0 is negative"),
        (np.where(x > 0, 9, right), "elements where input 0 is positive"),
        (np.where(x < -0.5, 9, right), "scattered"),
    ):
        verdict = judge(right.astype(np.float64), right, wrong.astype(np.float32), (x,))
        assert words in verdict.message, verdict.message


def test_a_transposed_result_is_recognised() -> None:
    eager = RNG.standard_normal((8, 8)).astype(np.float32)
    verdict = judge(eager.astype(np.float64), eager, np.ascontiguousarray(eager.T))
    assert "transpose" in verdict.message


def test_tiny_numbers_are_no_transpose_of_others() -> None:
    eager = (RNG.standard_normal((8, 8)) * 1e-34).astype(np.float32)
    shifted = np.roll(eager, 3, axis=1)
    assert "transpose" not in judge(eager.astype(np.float64), eager, shifted).message
    assert "transpose" in judge(eager.astype(np.float64), eager, np.ascontiguousarray(eager.T)).message


def test_integers_are_exact() -> None:
    answer = np.arange(10)
    assert judge(answer, answer, answer.copy()).status is Status.PASSED
    assert judge(answer, answer, answer + (answer == 3)).status is Status.WRONG_OUTPUT


def test_empty_is_right() -> None:
    empty = np.empty((0, 4), np.float32)
    assert judge(empty.astype(np.float64), empty, empty.copy()).status is Status.PASSED


@given(st.integers(1, 40), st.integers(1, 40), st.data())
def test_the_first_wrong_element_is_always_right(rows: int, columns: int, data) -> None:
    eager = np.random.default_rng(rows * 41 + columns).standard_normal((rows, columns)).astype(np.float32)
    mask = np.zeros(rows * columns, bool)
    mask[data.draw(st.lists(st.integers(0, rows * columns - 1), min_size=1, max_size=20))] = True
    got = np.where(mask.reshape(rows, columns), eager + 100, eager).astype(np.float32)
    verdict = judge(eager.astype(np.float64), eager, got)
    assert verdict.first == int(np.flatnonzero(mask)[0])
    assert verdict.evidence["wrong_elements"] == int(mask.sum())


def test_half_precision_is_called_so_however_few_elements_there_are() -> None:
    """Of 24 elements nearly all are rounded down once in some thousand draws."""
    for seed in range(3000):
        x = np.random.default_rng(seed).standard_normal((4, 6)).astype(np.float32)
        verdict = judge(2 * x.astype(np.float64), 2 * x, 2 * x.astype(np.float16).astype(np.float32), (x,))
        assert verdict.status is Status.PRECISION, (seed, verdict.message)


def test_a_factor_is_told_and_a_rounding_is_none() -> None:
    x = np.random.default_rng(1).standard_normal((4, 6)).astype(np.float32)
    for factor, told in ((1.5, True), (-1.0, True), (1.0005, False)):
        verdict = judge(x.astype(np.float64), x, (factor * x).astype(np.float32))
        assert ("times what it should be" in verdict.message) is told, verdict.message
        assert verdict.status is Status.WRONG_OUTPUT or factor == 1.0005


def test_two_numbers_that_differ_look_different() -> None:
    answer = np.linspace(0.1, 0.9, 9) - 1 / 3
    verdict = judge(answer, answer.copy(), answer + 1e-9)
    assert verdict.status is not Status.PASSED
    shown, wanted = verdict.message.partition("element [0] is ")[2].split(". ")[0].split(", expected ")
    assert shown != wanted and float(shown) > float(wanted)


def test_where_one_wrong_element_lies_or_nearly_all_is_not_said() -> None:
    right = RNG.standard_normal(200)
    for which, said in (
        ([7], "Wrong: this one element of 200."),
        ([n for n in range(200) if n % 50], "Wrong: 196 of 200 elements."),
    ):
        got = right.copy()
        got[which] = RNG.standard_normal(len(which))
        found = judge(right, right.copy(), got, ())
        assert said in found.message, found.message


@pytest.mark.parametrize(
    ("places", "says"),
    [
        (
            lambda i, j: (j % 4 == 3) & (i % 3 > 0) & ((i + j) % 5 > 0),
            "all of them in columns 3, 7, 11 and so on",
        ),
        (lambda i, j: (i % 2 == 1) & ((i + j) % 5 > 1), "all of them in rows 1, 3, 5 and so on"),
        (lambda i, j: (j == 5) & (i % 4 != 1), "all of them in column 5"),
        (lambda i, j: (3 * i + 7 * j) % 11 < 2, "scattered"),
        (lambda i, j: (j == 5) & (i % 20 == 1), "numbers [1, 5] and [21, 5]"),
    ],
)
def test_where_all_wrong_elements_lie(places: Any, says: str) -> None:
    right = RNG.standard_normal((24, 40)).astype(np.float32)
    i, j = np.indices(right.shape)
    got = np.where(places(i, j), right + 1, right).astype(np.float32)
    found = judge(right.astype(np.float64), right, got, ())
    assert f"elements, {says}" in found.message, found.message


def test_an_infinity_that_is_right_beside_wrong_elements_is_no_warning() -> None:
    expected = np.arange(36.0).reshape(6, 6)
    expected[0, 0] = np.inf
    got = (expected + np.arange(1.0, 7.0)).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert judge(expected, expected.astype(np.float32), got).status is Status.WRONG_OUTPUT


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_results_of_any_bits_are_judged_without_a_warning_of_numpy(dtype: str) -> None:
    size = np.dtype(dtype).itemsize
    answer = np.linspace(-1, 1, 64).reshape(8, 8)
    draws = np.random.default_rng(1)
    quiet = np.array([[0x7F800001, 0x7F7FFFFF][i % 2] for i in range(64)], np.uint32)
    for bits in [quiet.astype(np.uint32), *(draws.integers(0, 256, 64 * size, np.uint8) for _ in range(50))]:
        got = np.resize(bits.view(dtype), (8, 8))
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            assert (
                judge(answer, answer.astype(dtype), got, (answer.astype(dtype),)).status is not Status.PASSED
            )


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32])
@pytest.mark.parametrize("shape", [(), (0,), (7, 5)])
def test_whether_it_is_right_is_asked_without_saying_why(
    shape: tuple[int, ...], dtype: Any, small: bool
) -> None:
    by = None if dtype == np.int32 else fair(dtype)
    by = by_element(by, 1.0, 1.0) if by and small else by
    seen = set[bool]()
    for wrong in (0.0, 1e-7, 1e-3, 1.0, 1e5, np.nan, np.inf):
        for special in (0.0, np.nan, np.inf, -np.inf, 1e300):
            answer = np.asarray(RNG.integers(-9, 9, shape), np.float64)
            if dtype == np.int32:
                answer = answer.astype(np.int64)
            elif answer.ndim and answer.size:
                answer.reshape(-1)[0] = special
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                eager = answer.astype(dtype)
                got = np.asarray((answer + wrong).astype(dtype))
            passed = judge(answer, eager, got, (), by).status is Status.PASSED
            assert right(answer, eager, got, by) == passed
            seen.add(passed)
    assert seen == ({True} if 0 in shape else {True, False})
