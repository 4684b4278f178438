"""How a wrong number is wrong, where that tells the mistake: a unit, a share for percent, one too many."""

from __future__ import annotations

import math

from grader.domain.digits import apart

NEAR = 0.02
LOOK = {
    1e3: "1000 times too large: look at the unit",
    1e-3: "1000 times too small: look at the unit",
    1e6: "a million times too large: look at the unit",
    1e-6: "a million times too small: look at the unit",
    1e9: "a thousand million (10^9) times too large: look at the unit",
    1e-9: "a thousand million (10^9) times too small: look at the unit",
}
SHARES = {
    1e2: "100 times too large: is it in percent, where a share is asked for?",
    1e-2: "100 times too small: is it a share (0.25), where percent (25) is asked for?",
}
POWERS = {"GB": ("GiB", 30, 9), "MB": ("MiB", 20, 6)}  # of 2 and of 10
NO_NUMBERS = ("nan", "inf", "-inf")  # how JSON has them
KINDS = ((bool, "a bool"), (str, "a text"), (list, "a list"), (int, "a number"), (float, "a number"))
TIMES = ("s", "ms", "us", "ns")
UNITS = {1e3: "milliseconds", 1e6: "microseconds", 1e9: "nanoseconds"}


def by(
    claimed: object,
    right: float,
    tolerance: float = NEAR,
    unit: str | None = None,
    *,
    rounded_up: bool = True,
) -> str:
    """A sentence about the difference, with a space in front; "" if it shows nothing.

    Factors are recognised within the relative ``tolerance``, those that can be in a number of that ``unit``.
    ``rounded_up``: a whole number is so many that nothing is left over.
    """
    if claimed is None:
        return " None is what Python hands back where no `return` with a value is reached."
    if claimed in NO_NUMBERS:
        return ""
    if isinstance(claimed, bool) or not isinstance(claimed, (int, float)):
        return f" That is not a number but a {type(claimed).__name__}."
    if isinstance(right, int) and isinstance(claimed, float):
        shown = apart(claimed, round(claimed), 6)[0] if math.isfinite(claimed) else f"{claimed:g}"
        whole = "it is a float" if claimed.is_integer() else f"{shown} is not whole"
        return f" {whole[:1].upper()}{whole[1:]}, and this counts something: divide whole numbers with `//`."
    if rounded_up and isinstance(right, int) and abs(claimed - right) == 1:
        if claimed > right:
            return (
                " That is one too many, where it divides evenly: count one more only for what is left over."
            )
        return " That is one too few: what is left over needs one more, so round up."
    for factor, words in _factors(right, unit).items():
        if right and math.isclose(claimed, right * factor, rel_tol=tolerance):
            return f" It is {words}{'' if words.endswith('?') else '.'}"
    if right and math.isclose(claimed, -right, rel_tol=tolerance):
        return " Only the sign is wrong."
    return ""


def _factors(right: float, unit: str | None) -> dict[float, str]:
    """What a number may be wrong by: percent for a share, thousands for a unit, and 2^30 only for bytes."""
    if unit is None:
        return LOOK if isinstance(right, int) else SHARES | LOOK
    if unit == "%":
        return {1e-2: SHARES[1e-2]}
    measure = unit.split("/")[0].split(" ")[0]
    if measure in POWERS:
        binary, two, ten = POWERS[measure]
        ratio = 2**two / 10**ten
        return {
            ratio: f"2^{two} / 10^{ten} = {ratio:.3f} times too large: 10^{ten} bytes are counted as 2^{two}",
            1 / ratio: f"10^{ten} / 2^{two} = {1 / ratio:.3f} of it: {binary}, where {measure} are asked for",
        } | LOOK
    return LOOK if measure in TIMES else {}


ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


def shown(claimed: object) -> str:
    """A claim as Python writes it, so that a text is seen to be one."""
    return str(claimed) if claimed in NO_NUMBERS or isinstance(claimed, (int, float)) else repr(claimed)


def form(claimed: object, right: object) -> str:
    """A sentence where an answer is of another kind than asked for, with a space in front; else ""."""
    is_a, wanted = (_kind(one) for one in (claimed, right))
    if isinstance(claimed, list) and isinstance(right, list):
        return _listed(claimed, right)
    if not wanted or is_a == wanted or claimed in NO_NUMBERS:
        return ""
    if right == [] and not claimed:
        return f" {repr(claimed)[:40]} is not a list; a list without entries is `[]`."
    if not is_a:
        return f" That is not {wanted}."
    brackets = ": write it in square brackets" if right == [claimed] else ""
    return f" That is {is_a}, and what is asked for is {wanted}{brackets}."


def kind_differs(claimed: object, right: object) -> bool:
    """Whether an answer is of another kind than asked for, so that its value is wrong whatever was asked."""
    return bool(_kind(claimed) and _kind(right)) and _kind(claimed) != _kind(right)


def _kind(value: object) -> str:
    return next((words for kind, words in KINDS if isinstance(value, kind)), "")


def _listed(claimed: list[object], right: list[object]) -> str:
    """The same for two lists: the right entries in another order, or of another kind, or a list too many."""
    if claimed == [right]:
        return " That is the list inside another list or tuple: a comma or square brackets too many."
    if sorted(map(repr, claimed)) == sorted(map(repr, right)):
        other = [n for n, (a, b) in enumerate(zip(claimed, right, strict=True)) if a != b]
        if len(other) == 2 and other[1] < len(ORDINALS):
            first, second = (ORDINALS[n] for n in other)
            seen = (
                f" These are the right entries, with the {first} and the {second} in each other's place here"
            )
            alike = len({repr(one) for one in right}) < len(right)
            return f"{seen}; of equal entries, an exchange cannot be seen." if alike else f"{seen}."
        if len(right) == 4 and claimed == [right[n] for n in (1, 0, 3, 2)]:
            return (
                " These are the right entries, but the first and the second are in each other's place, "
                "and so are the third and the fourth."
            )
        return " These are the right entries in another order."
    if len(claimed) == len(right):
        pairs = [(_kind(a), _kind(b)) for a, b in zip(claimed, right, strict=True)]
        a, b = next(((a, b) for a, b in pairs if a != b and a and b), ("", ""))
        return f" An entry is {a} there, and what is asked for is {b}." if a else ""
    return ""


def seconds(claimed: float, right: float, tolerance: float) -> str:
    """The same for a time that is asked for in seconds."""
    for factor, unit in UNITS.items():
        if right and math.isclose(claimed, right * factor, rel_tol=tolerance):
            times = f"{factor:,.0f}"
            return f" It is {times} times too large: {unit}, where seconds are asked for."
    for factor in range(2, 101):
        if right and math.isclose(claimed, right * factor, rel_tol=min(tolerance, 0.2 / factor)):
            return f" It is {factor} times too large: is that the time of {factor} calls?"
    for factor in (1e-3, 1e-6):
        if right and math.isclose(claimed, right * factor, rel_tol=tolerance):
            return f" It is {LOOK[factor]}."
    return ""
