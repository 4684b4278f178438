"""Compare one result with the answer: every element, with a tolerance that was measured, not guessed.

The allowed error of a case is ``FACTOR`` times the largest error that eager float32 itself makes against
float64 on the same input, plus ``ULPS`` units in the last place of the expected element. Another order of
summation stays far below that; TF32 and half precision are far above it, and so are zeros.

Where values span many magnitudes that says nothing of small elements. So where eager float32 is accurate
element by element, a submission must be roughly right in each, too.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.domain.digits import apart
from grader.domain.verdict import Status
from grader.referee import mismatch

Array = NDArray[Any]
FACTOR = 20.0  # by experiment: benchmarks/tolerance.py
ULPS = 4.0
# The framework is accurate element by element where no element is off by more than this part of its answer;
# then none of a submission may be off by more than ROUGHLY, but for what cancels on the way (``Fair.small``).
ACCURATE, ROUGHLY = 2.0**-12, 0.02
# Where it is off by no more than so many roundings of any element, the allowance does not depend on whether
# it met the largest one exactly.
ROUNDINGS = 2.0
NORMAL = 2.0**10  # times the smallest normal number: below it fewer digits are kept
CANCELLED, TERMS, MOST_TERMS = 64.0, 256.0, 2.0**16
NEARLY_ALL = 0.9  # of the elements: then where they lie tells nothing
LARGE, PIECE, THREADS = 1 << 20, 1 << 17, 8


@dataclass(frozen=True, slots=True)
class Judgement:
    """Outcome of one comparison; ``first`` is the row-major index of the first wrong element."""

    status: Status
    message: str = ""
    first: int | None = None
    evidence: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fair:
    """What error is fair: ``factor`` times the framework's own largest one, and ``ulps`` of each element.

    ``eps``, ``largest`` and ``tiny`` are those of the results' dtype. ``relative`` adds that fraction of the
    largest answer: what another order of summation may cost where the framework's own is unusually exact.
    ``small``: an error that may remain of larger numbers that cancel; 0: elements are not asked one by one.
    """

    eps: float
    largest: float
    tiny: float
    factor: float = FACTOR
    ulps: float = ULPS
    relative: float = 0.0
    small: float = 0.0


def fair(dtype: Any) -> Fair:
    """For results of a numpy dtype."""
    info = np.finfo(dtype)
    return Fair(float(info.eps), float(info.max), float(info.smallest_subnormal))


def by_element(by: Fair, reach: float, terms: float) -> Fair:
    """The same, and each element by itself where that can be asked.

    ``reach``: the largest number that the call works on. Honest formulas form its square (a variance, an
    expanded polynomial) and 1 (a sigmoid by tanh), and lose the digits of small results in a difference of
    these; in a sum of many ``terms`` they lose more.
    """
    more = max(1.0, min(terms, MOST_TERMS) / TERMS)
    return replace(by, small=CANCELLED * by.eps * max(1.0, reach) ** 2 * more)


@dataclass(frozen=True, slots=True)
class Own:
    """The framework's largest error, and its largest as a part of the answer; inf where that is not known."""

    error: float
    part: float


def judge(
    expected: Array, eager: Array, got: Array, inputs: tuple[Array, ...] = (), by: Fair | None = None
) -> Judgement:
    """Judge ``got`` (the submission's dtype) against ``expected`` (float64, or exact integers).

    ``eager`` is the framework's own result in the submission's dtype, ``inputs`` the call's arguments, used
    only to recognise patterns. All have the same shape.
    """
    if got.dtype.kind != "f":
        return _verdict(got != eager, expected, got, inputs, np.zeros(()))
    by = by or fair(got.dtype)
    wrong, answer, allowed = _wrong(expected, eager, got, by)
    if by.small and wrong.any():
        plainly = _wrong(expected, eager, got, replace(by, small=0.0))[0]
        return _verdict(wrong, answer, got, inputs, allowed, plainly)
    return _verdict(wrong, answer, got, inputs, allowed)


def _wrong(
    expected: Array, eager: Array, got: Array, by: Fair, of_all: Own | None = None
) -> tuple[Array, Array, Array]:
    """Which elements are wrong, the answers in the dtype's range, and what is allowed.

    ``of_all``: the framework's own errors, where these are a part of all elements.
    """
    wide, own, answer = mismatch.wide(got), mismatch.wide(eager), _in_range(expected, by.largest)
    finite = np.isfinite(answer) & np.isfinite(own)
    allowed = _allowed(answer, finite, by, of_all or _own(answer, own, finite, by))
    with np.errstate(invalid="ignore", over="ignore"):
        wrong = ~(np.abs(wide - answer) <= allowed)
        if not finite.all():
            wrong = np.where(finite, wrong, ~_same_kind(wide, own))
    return wrong, answer, allowed


def right(expected: Array, eager: Array, got: Array, by: Fair | None = None) -> bool:
    """Whether :func:`judge` passes it, without a word about why not; large results in pieces, by threads."""
    if got.dtype.kind != "f":
        return not (got != eager).any()
    by = by or fair(got.dtype)
    if got.size < LARGE:
        return not _wrong(expected, eager, got, by)[0].any()
    flat = [x.reshape(-1) for x in (expected, eager, got)]
    pieces = [[x[at : at + PIECE] for x in flat] for at in range(0, got.size, PIECE)]

    def own(piece: list[Array]) -> Own:
        answer, wide = _in_range(piece[0], by.largest), mismatch.wide(piece[1])
        return _own(answer, wide, np.isfinite(answer) & np.isfinite(wide), by)

    with ThreadPoolExecutor(THREADS) as pool:
        each = list(pool.map(own, pieces))
        worst = Own(max(one.error for one in each), max(one.part for one in each))

        def good(piece: list[Array]) -> bool:
            answer, eager, found = piece
            return not _wrong(answer, eager, found, by, worst)[0].any()

        return all(pool.map(good, pieces))


def _in_range(expected: Array, largest: float) -> Array:
    """Float64 answers that the dtype cannot hold are infinite in it."""
    with np.errstate(over="ignore"):
        too_large = np.abs(expected) > largest
        return np.where(too_large, np.copysign(np.inf, expected), expected) if too_large.any() else expected


def _finite_or_zero(finite: Array, values: Array) -> Array:
    """0 in place of those that are not finite."""
    return values if finite.all() else np.where(finite, values, 0.0)


def _own(answer: Array, eager: Array, finite: Array, by: Fair) -> Own:
    with np.errstate(invalid="ignore"):
        off, size = np.abs(_finite_or_zero(finite, eager - answer)), _finite_or_zero(finite, np.abs(answer))
    known = size > NORMAL * by.tiny / by.eps
    part = np.divide(off, size, out=np.zeros_like(off), where=known).max(initial=0.0) if by.small else np.inf
    return Own(float(off.max(initial=0.0)), float(part))


def _allowed(answer: Array, finite: Array, by: Fair, own: Own) -> Array:
    with np.errstate(invalid="ignore"):
        size = _finite_or_zero(finite, np.abs(answer))
    whole = by.relative * size.max(initial=0.0) if by.relative else 0.0
    allowed = by.factor * own.error + whole + by.ulps * by.eps * size + by.tiny
    if by.small and own.part <= ROUNDINGS * by.eps:
        allowed = np.maximum(allowed, (by.factor * own.part + by.ulps * by.eps) * size)
    if by.small and own.part <= ACCURATE:
        allowed = np.minimum(allowed, np.maximum(ROUGHLY * size, by.small))
    return np.asarray(allowed)


def _same_kind(got: Array, eager: Array) -> Array:
    """Non-finite answers: NaN for NaN, infinity for the same infinity."""
    both_nan = np.isnan(got) & np.isnan(eager)
    return np.asarray(both_nan | (got == eager))


def _verdict(
    wrong: Array,
    answer: Array,
    got: Array,
    inputs: tuple[Array, ...],
    allowed: Array,
    plainly: Array | None = None,
) -> Judgement:
    """``plainly``: which are wrong whatever their size, where others are as well."""
    count = int(np.count_nonzero(wrong))
    if not count:
        return Judgement(Status.PASSED, evidence=_errors(answer, got, allowed))
    flat = int(np.flatnonzero(wrong.reshape(-1))[0])
    index = tuple(int(i) for i in np.unravel_index(flat, got.shape)) if got.ndim else ()
    value, want = got.reshape(-1)[flat], answer.reshape(-1)[flat]
    shape = mismatch.describe(wrong, answer, got, inputs)
    evidence = _errors(answer, got, allowed) | {
        "first_wrong": list(index),
        "expected": _number(want),
        "got": _number(value),
        "wrong_elements": count,
        "elements": got.size,
        "pattern": shape,
    }
    where = f"element {list(index)}" if got.ndim else "the value"
    shown, wanted = _shown(value, want)
    message = f"First wrong: {where} is {shown}, expected {wanted}. "
    some = f"Wrong: {count:,} of {got.size:,} elements"
    if shape.startswith(mismatch.TELLING):
        message += f"{some}. {shape[0].upper()}{shape[1:]}."
    else:
        spread = mismatch.evenly(wrong) or ("" if count > NEARLY_ALL * got.size else "scattered")
        message += f"Wrong: {shape}." if shape else f"{some}{f', {spread}' if spread else ''}."
    status = Status.WRONG_OUTPUT
    if plainly is not None and not plainly.reshape(-1)[flat]:
        message += _of_small(answer, allowed.reshape(-1)[flat])
        evidence["small"] = True
    if got.dtype.kind == "f":
        # NaN in place of infinity counts too: else the word would depend on where infinities were drawn.
        not_finite = wrong & (np.isnan(got) | (np.isinf(got) & np.isfinite(answer)))
        if int(np.count_nonzero(not_finite)) == count:
            status = Status.NOT_FINITE
        elif evidence.get("small"):
            pass  # against the largest answer this error says nothing of a precision
        elif (guess := mismatch.precision(wrong, answer, got)) is not None:
            status, message = Status.PRECISION, f"{guess} {message}"
            evidence["guess"] = guess
    return Judgement(status, message, flat, evidence)


def _of_small(answer: Array, allowed: float) -> str:
    largest = np.abs(answer[np.isfinite(answer)]).max(initial=0.0)
    return (
        f" Beside the largest answer, {largest:.4g}, that is little, but PyTorch's own result is accurate in "
        f"each element here, the small ones too, and so must this be: {allowed:.2g} is the most that it may "
        "be off."
    )


def _errors(answer: Array, got: Array, allowed: Array) -> dict[str, Any]:
    if got.dtype.kind != "f" or not got.size:
        return {}
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(mismatch.wide(got) - answer)
    off = off[np.isfinite(off)]
    return {
        "largest_error": _number(off.max(initial=0.0)),
        "allowed_error": _number(allowed.max(initial=0.0)),
    }


def _number(value: Any) -> float | str | int:
    """JSON has no NaN and no infinity; they travel as words."""
    if isinstance(value, (np.integer, np.bool_)):
        return int(value)
    number = float(value)
    return number if np.isfinite(number) else str(number)


def _shown(value: Any, want: Any) -> tuple[str, str]:
    """Both in digits that tell them apart; whole numbers in all of theirs."""
    if "f" in (np.asarray(value).dtype.kind, np.asarray(want).dtype.kind):
        return apart(float(value), float(want))
    return str(value), str(want)
