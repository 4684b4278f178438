"""Put a shape to what is wrong: "every element of the last 13 columns" says more than a count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def describe(wrong: Array, answer: Array, got: Array, inputs: tuple[Array, ...]) -> str:
    """A phrase for the set of wrong elements, or "" when it has no shape that we know."""
    count, size = int(np.count_nonzero(wrong)), got.size
    if said := _negative(answer, got) or _by_sign(wrong, inputs):
        return said
    if count == size or not np.any(got):  # zeros may be right here and there
        whole = _whole(answer, got, inputs)
        if whole:
            return whole
    if 2 * count > size and (turned := _turned(answer, got)):
        return turned
    if line := _by_line(wrong, answer, got):
        told = f"as where a number that belongs to the {line} is missing"
        return f"of them those of one {line} are all off by the same number, {told}"
    if count == size:
        return f"all {size:,} elements" if size > 1 else ""
    flat = wrong.reshape(-1)
    if got.ndim == 2 and (lines := _lines(wrong)):
        return lines
    first = int(np.argmax(flat))
    if flat[first:].all():
        last = f"every element from flat index {first:,} on, the last {size - first:,} of {size:,}"
        return last if count > 1 else f"the last of {size:,} elements"
    if flat[:count].all():
        return f"the first {f'{count:,} ' if count > 1 else ''}of {size:,} elements"
    if period := _period(flat):
        return f"every {_ordinal(period)} element, beginning at flat index {first:,}"
    if count == 1:
        return f"this one element of {size:,}"
    return ""


def _by_sign(wrong: Array, inputs: tuple[Array, ...]) -> str:
    """Whether those elements are wrong, and no others, whose input is negative, or is positive."""
    count = int(np.count_nonzero(wrong))
    for number, given in enumerate(inputs if FEWEST <= count < wrong.size else ()):
        if given.shape != wrong.shape or given.dtype.kind not in "fi":
            continue
        for name, has in (("negative", given < 0), ("positive", given > 0)):
            if np.array_equal(wrong, has):
                return f"exactly the {count:,} of {wrong.size:,} elements where input {number} is {name}"
    return ""


LISTED = 3  # wrong elements that are named one by one
FEWEST = 6  # wrong elements of which it is worth saying where all of them lie


def evenly(wrong: Array) -> str:
    """Where all wrong elements lie, if that is in one column or row, or in evenly spaced ones; else ""."""
    places = np.argwhere(wrong) if wrong.ndim else np.zeros((0, 0), np.int64)
    if 1 < len(places) <= LISTED:
        shown = [str(p[0]) if wrong.ndim == 1 else str([int(i) for i in p]) for p in places]
        return f"numbers {', '.join(shown[:-1])} and {shown[-1]}"
    if len(places) < FEWEST:
        return ""
    last = places.shape[1] - 1
    names = {last: ("element" if last == 0 else "column"), last - 1: "row"} if last < 2 else {last: "column"}
    for axis, name in names.items():
        if axis < 0:
            continue
        used = np.unique(places[:, axis])
        if len(used) == 1:
            return f"all of them in {name} {used[0]}"
        step = int(np.gcd.reduce(np.diff(used)))
        if step > 1 and len(used) > 2:
            first = int(used[0]) % step
            return f"all of them in {name}s {first}, {first + step}, {first + 2 * step} and so on"
    return ""


def wide(values: Array) -> Array:
    """In float64. What a kernel left may hold signaling NaNs, of which such a cast warns."""
    with np.errstate(invalid="ignore"):
        return np.asarray(values.astype(np.float64))


# How those begin that are a sentence of their own.
TELLING = ("of them",)


def _whole(answer: Array, got: Array, inputs: tuple[Array, ...]) -> str:
    """Everything is wrong: is it something simple instead?"""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        if not np.any(got):
            return f"the result is all zeros ({got.size:,} elements)"
        if np.isnan(wide(got)).all():
            return f"all {got.size:,} elements are NaN"
        if got.size > 1 and (got == got.reshape(-1)[0]).all():
            return f"the same value {float(got.reshape(-1)[0]):.7g} everywhere"
        for number, given in enumerate(inputs):
            if given.shape == got.shape and np.array_equal(given.astype(got.dtype), got, equal_nan=True):
                return f"the result is a copy of input {number}"
        for number, given in enumerate(inputs):
            if said := _straight(answer, got, given, f"input {number}"):
                return said
        some = answer != 0
        if np.count_nonzero(some) > 3:
            ratio = wide(got[some]) / answer[some]
            middle = float(np.median(ratio))
            if middle and abs(middle - 1) > 2e-3 and np.allclose(ratio, middle, rtol=1e-3):
                return f"everything is {middle:.6g} times what it should be"
    return ""


def _negative(answer: Array, got: Array) -> str:
    """What is wrong below 0, where the expected result has been through ReLU."""
    if answer.dtype.kind != "f" or not np.isfinite(got).all() or got.size < 16:
        return ""
    zeros = answer == 0
    below = got < 0
    if answer.min() < 0 or not 0.05 < zeros.mean() < 0.95 or not below.any():
        return ""
    if _near(got[~zeros], answer[~zeros]):
        return f"of them {below.sum():,} are negative where 0 is expected, and the others are right: no ReLU"
    if not got[~zeros].any() and np.all(got <= 0):
        return "what is negative is kept, and what should be positive is 0: the ReLU is the wrong way round"
    return f"of them {below.sum():,} are negative, and ReLU, the last step, leaves none below 0"


def _straight(answer: Array, got: Array, given: Array, name: str) -> str:
    """The result as a factor times an input plus a number, where it is that, and the answer too if it is."""
    if given.shape != got.shape or given.dtype.kind != "f" or got.size < 5:
        return ""

    def line(values: Array) -> tuple[float, float] | None:
        x, y = wide(given.reshape(-1)), wide(values.reshape(-1))
        sound = np.isfinite(x) & np.isfinite(y)
        if np.count_nonzero(sound) < 5 or not np.ptp(x[sound]):
            return None
        factor, more = np.polyfit(x[sound], y[sound], 1)
        error = np.abs(factor * x[sound] + more - y[sound]).max()
        return (float(factor), float(more)) if error <= 1e-5 * np.abs(y[sound]).max() else None

    found, right = line(got), line(answer)
    if found is None or (abs(found[0]) < 1e-6 and right is None):
        return ""
    if right and _sum(found, name) == _sum(right, name):
        return ""  # they differ in digits that are not shown
    expected = f", and the expected one {_sum(right, name)}" if right else ""
    return f"the result is {_sum(found, name)}{expected}"


def _sum(line: tuple[float, float], name: str) -> str:
    factor, more = (0.0 if abs(part) < 1e-6 else part for part in line)
    product = name if abs(factor - 1) < 1e-6 else f"{factor:.6g} * {name}"
    return f"{product} {'+' if more > 0 else '-'} {abs(more):.6g}" if more else product


def _by_line(wrong: Array, answer: Array, got: Array) -> str:
    """ "column" or "row" where its elements are all off by one number, another in each; else ""."""
    if got.ndim != 2 or min(got.shape) < 4 or np.count_nonzero(wrong) < 0.5 * got.size:
        return ""
    with np.errstate(invalid="ignore", over="ignore"):  # of an infinity and itself
        off = wide(got) - answer
    if not np.isfinite(off).all() or not np.ptp(off):
        return ""
    for axis, name in ((0, "column"), (1, "row")):
        middle = np.median(off, axis=axis, keepdims=True)
        if (
            np.abs(off - middle).mean() < 0.05 * np.abs(middle).mean()
            and np.ptp(middle) > 0.05 * np.abs(off).mean()
        ):
            return name
    return ""


def _turned(answer: Array, got: Array) -> str:
    """Whether the result holds the answer's transpose, row after row, which only a square one is itself."""
    if got.ndim != 2 or min(got.shape) < 2 or not _near(got.reshape(-1), answer.T.reshape(-1)):
        return ""
    if got.shape[0] == got.shape[1]:
        return "the result is the transpose of the expected one; rows and columns are swapped"
    return (
        "the expected elements are all there in another order: read row after row, the result has first "
        "those of the expected column 0, then those of column 1, and so on"
    )


def _near(got: Array, want: Array) -> bool:
    """Whether all are equal but for rounding: what 0 may be instead goes by the size of the others."""
    size = float(np.abs(np.where(np.isfinite(want), want, 0)).max(initial=0))
    return bool(np.allclose(got, want, rtol=1e-3, atol=1e-6 * size, equal_nan=True))


def _lines(wrong: Array) -> str:
    """Whole rows or whole columns."""
    rows, columns = wrong.shape
    for axis, name, length in ((0, "columns", columns), (1, "rows", rows)):
        lines = np.asarray(wrong.all(axis=axis))
        bad = int(np.count_nonzero(lines))
        other = rows if name == "columns" else columns
        if not bad or bad == length or bad * other != int(np.count_nonzero(wrong)):
            continue
        first = int(np.argmax(lines))
        singular = name[:-1]
        if bad == 1:
            return f"every element of {singular} {first}, and nothing else"
        if bad == length - 1 and not lines[0]:
            return f"every element but those of {singular} 0"
        if lines[first:].all():
            return f"every element of the last {bad} {name} ({singular} {first} on)"
        if lines[:bad].all():
            return f"every element of the first {bad} {name}"
        if period := _period(lines):
            return f"every {_ordinal(period)} {singular}, beginning at {singular} {first}"
        return f"every element of {bad} of the {length} {name}, the first of them {singular} {first}"
    return ""


def _period(mask: Array) -> int:
    """The period of a mask whose true elements are evenly spaced, or 0."""
    places = np.flatnonzero(mask)
    if len(places) < 3:
        return 0
    steps = np.diff(places)
    step = int(steps[0])
    if step < 2 or not (steps == step).all() or places[0] >= step or places[-1] + step < len(mask):
        return 0
    return step


def _ordinal(number: int) -> str:
    suffix = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}" if number > 2 else "second"


def precision(wrong: Array, answer: Array, got: Array) -> str | None:
    """A sentence when the result is right but for its precision, else None.

    Low precision errs everywhere by about its unit in the last place: many elements are off, none by much.
    """
    finite = np.isfinite(answer) & np.isfinite(wide(got))
    scale = float(np.abs(answer[finite]).max(initial=0.0))
    if not scale or np.count_nonzero(wrong) < 0.05 * got.size or got.size < 4 or (wrong & ~finite).any():
        return None
    with np.errstate(over="ignore"):  # of two that are far apart
        off = np.abs(wide(got[finite]) - answer[finite])
        signed = wide(got[wrong]) - answer[wrong]
    if not np.isfinite(off).all():
        return None
    relative = float(off.max()) / scale
    # Rounding errs to both sides, and so does a coarse function, less evenly: for an exponential by bits the
    # mean error was up to 0.70 of the mean size. With a missing term, or beyond a function's range, it is 1.
    # Of few elements most are rounded to one side now and then.
    sided = 0.85 if signed.size >= 100 else 0.97
    if _by_line(wrong, answer, got):
        return None
    if relative > 2e-2 or abs(float(signed.mean())) > sided * float(np.abs(signed).mean()):
        return None
    power = round(np.log2(relative))
    like = (
        "half precision or TF32"
        if power >= -14
        else "an approximation of a function, or digits lost in a difference"
    )
    if power >= -9:
        like = "bfloat16 or a coarse approximation"
    if got.dtype == np.float16 and power < -9:
        about = f"The largest error is about 2^{power} of the largest value"
        return f"{about}: more is rounded to float16 than the result."
    if got.dtype == np.float64 and -30 <= power <= -20:
        like = "float32 on the way"
    return (
        f"The largest error is about 2^{power} of the largest value; that looks like {like}, not {got.dtype}."
    )
