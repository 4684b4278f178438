"""Slips in a kernel's formula: another function or base for e to a power, a bound or a return too early, row and column exchanged; see ``facts.py``."""

from __future__ import annotations

import ast
import math
import re
from itertools import islice
from typing import TYPE_CHECKING

from grader.feedback.explain.source_text import (
    OUTSIDE,
    TWICE,
    WRONG,
    CppFunction,
    Fact,
    Finder,
    SubmissionText,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding, Status

MOST = 16
NAMES = {"sigmoid": "sigmoid", "relu": "ReLU"}
DOES = {"sigmoid": r"\bexpf?\s*\(", "relu": r"[<>]=?\s*0|\bf?maxf?\s*\("}  # C++ that computes it
ONE = r"1(?:\.0?)?f?"
EXP = r"(?:__)?expf?"
BOUNDED = re.compile(
    r"(?:^|[;{}])\s*(?P<x>[A-Za-z_]\w*)\s*=(?!=)\s*(?P<v>(?:std::)?(?:f?max|f?min|clamp)f?\s*\([^;]{1,80})\s*;"
)
E_BY_HAND = re.compile(
    r"\b(?:std::)?powf?\s*\(\s*(?P<e>(?P<n>2\.7\d{0,12})f?)\s*,\s*(?P<x>[^(),;]{1,40}?)\s*\)"
)
NOT_EXP = re.compile(
    rf"/\s*\(\s*{ONE}\s*\+\s*(?P<e>(?P<f>(?:__)?(?:log|exp2|exp10|expm1))f?\s*\(\s*-\s*(?P<x>[A-Za-z_]\w*)\s*\))\s*\)"
)
GIVES = {
    "log": "is the natural logarithm, which undoes the exponential, and of a negative number it is NaN",
    "exp2": "is a power of 2, not of e",
    "exp10": "is a power of 10, not of e",
    "expm1": "is e to that power minus 1",
}
EARLY = re.compile(r"\bif\s*\(\s*(?P<a>[^;{}()]{1,60})\)\s*\{?\s*return\s+(?P<v>[^;{}]{1,60}?)\s*;")
LAST = re.compile(r"\breturn\s+(?P<v>[^;{}]{1,120}?)\s*\+\s*(?P<x>[A-Za-z_]\w*)\s*;\s*$")
LESS_BIAS = re.compile(
    r"(?<![\w.])(?P<v>[A-Za-z_]\w*(?:\[[^][;]{1,40}\])?)\s*-\s*(?P<b>bias\b(?:\[[^][;]{1,40}\])?)"
)
LESS_ROW = re.compile(
    r"(?<![\w.*/%])(?P<i>[A-Za-z_]\w*)\s*-\s*(?P<o>\()?\s*(?P=i)\s*/\s*(?P<c>[A-Za-z_]\w*)(?(o)\s*\))(?!\s*[\w.(*/%])"
)
ELEMENT = r"[A-Za-z_]\w*\[[^][;]{1,40}\]"
CUBE = re.compile(
    rf"(?<![\w.])(?P<e>{ELEMENT})\s*\*\s*(?P=e)\s*\*\s*(?P=e)|\bpowf?\s*\(\s*(?P<p>{ELEMENT})\s*,\s*3(?:\.0?)?f?\s*\)"
)


def _on_device(text: SubmissionText) -> list[CppFunction]:
    return [f for f in text.functions if f not in text.host]


def _bounded_for_all(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``x = fminf(fmaxf(x, -80.0f), 80.0f);`` above ``return scale / (1.0f + expf(-x)) + x;``."""
    expected = finding.evidence.get("expected")
    for function in _on_device(text):
        for match in islice(BOUNDED.finditer(function.body), MOST):
            x, bounded, rest = match["x"], " ".join(match["v"].split()), function.body[match.end() :]
            names = set(re.findall(r"[A-Za-z_]\w*", re.sub(r"\d[\w.]*", "", bounded)))
            bounds = [abs(float(n)) for n in re.findall(r"(?<![\w.])(\d+(?:\.\d*)?)", bounded)]
            if (
                x not in function.names
                or names - {x, "std", "fminf", "fmaxf", "min", "max", "clamp"}
                or x not in names
            ):
                continue
            beyond = isinstance(expected, int | float) and bounds and abs(expected) > max(bounds)
            last = re.search(r"\breturn\s+([^;{}]{1,120});\s*$", rest)
            if last is None or not re.search(EXP, last[1]) or not beyond:
                continue
            if not re.search(rf"\b{x}\b", re.sub(rf"{EXP}\s*\([^()]*\)", "", last[1])):
                continue
            line = text.line(function.start + match.start("x"))
            at = text.line(function.start + match.end() + last.start())
            cause = (
                f"From this line on {x} is the bounded value, and not for the exponential alone: line {at}, "
                f"`{' '.join(last[1].split())}`, takes it in every place where it has {x}."
            )
            fix = f"Keep {x} as it is, and hand the bounded value to the exponential alone, under a name of its own."
            if re.search(rf"/\s*\(\s*{ONE}\s*\+\s*{EXP}\s*\(\s*-\s*{x}\s*\)", last[1]):
                fix = f"Take the line away: where `expf(-{x})` is infinite, what is divided by it is 0, and that is right."
            yield Fact("bounded-for-all", line, cause, fix)


def _e_by_hand(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``powf(2.71f, -x)``."""
    for function in _on_device(text):
        for match in islice(E_BY_HAND.finditer(function.body), MOST):
            off = abs(float(match["n"]) / math.e - 1)
            if off < 2e-7:
                continue
            cause = (
                f"e is 2.718281828..., and `{match['e']}` misses it by {off:.1g} of its size. To the power of k the result is off by about k "
                "times as much."
            )
            yield Fact("e-by-hand", text.line(function.start + match.start()), cause,
                       f"C++ has e to a power as a function: `expf({match['x']})`.")  # fmt: skip


def _not_the_exponential(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``1 / (1 + logf(-x))`` in a sigmoid."""
    for function in _on_device(text) if "sigmoid" in text.code else ():
        for match in islice(NOT_EXP.finditer(function.body), MOST):
            x, name = match["x"], match["f"].lstrip("_")
            cause = f"`{match['e']}` {GIVES[name]}. The sigmoid of {x} is 1 / (1 + e to the power of -{x})."
            yield Fact("not-the-exponential", text.line(function.start + match.start("e")), cause,
                       f"Write `expf(-{x})` in its place.")  # fmt: skip


def _without_residual(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``if (x > 20.0f) return scale;`` above ``return scale / (1.0f + expf(-x)) + x;``."""
    for function in _on_device(text):
        last = LAST.search(function.body)
        if last is None or last["x"] not in function.names or not re.search(EXP, last["v"]):
            continue
        x, at = last["x"], text.line(function.start + last.start("x"))
        for match in islice(EARLY.finditer(function.body[: last.start()]), MOST):
            v, a = match["v"], " ".join(match["a"].split())
            if re.search(rf"\b{x}\b", v):
                continue
            cause = f"`return {v};` ends the function: where `{a}` is true, line {at} is never reached, and `+ {x}` is missing in the result."
            yield Fact("without-residual", text.line(function.start + match.start()), cause,
                       f"{x} belongs to every result: `return {v} + {x};`.")  # fmt: skip


def _bias_taken_away(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``value - bias``."""
    for function in _on_device(text):
        if "bias" not in function.names or re.search(
            r"\+\s*bias\b|\bbias(?:\[[^][]*\])?\s*\+", function.body
        ):
            continue
        for match in islice(LESS_BIAS.finditer(function.body), 1):
            cause = f"`{match[0]}` takes the bias away from {match['v']}. A layer adds its bias."
            yield Fact("bias-taken-away", text.line(function.start + match.start()), cause,
                       f"Write `{match['v']} + {match['b']}`.")  # fmt: skip


def _less_the_row(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``bias[i - i / cols]``."""
    for kernel in text.kernels:
        for match in islice(LESS_ROW.finditer(kernel.body), MOST):
            i, c = match["i"], match["c"]
            if c not in kernel.names:
                continue
            cause = (
                f"`{i} / {c}` is the number of element {i}'s row. To come to its place in the row, all elements of the rows above must "
                f"go, `{i} / {c} * {c}` of them; `{match[0]}` takes away their number of rows alone."
            )
            yield Fact("less-the-row", text.line(kernel.start + match.start()), cause,
                       f"What is left then is the remainder: `{i} % {c}`.")  # fmt: skip


def _third_power(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``x[i] * x[i] * x[i]`` in a kernel that is called triple."""
    for kernel in text.kernels:
        for match in islice(CUBE.finditer(kernel.body), 1) if "triple" in kernel.name else ():
            e = match["e"] or match["p"]
            yield Fact("third-power", text.line(kernel.start + match.start()),
                       f"`{match[0]}` is the third power of the element, and {kernel.name} is to give three times the element.",
                       f"Write `3 * {e}`.")  # fmt: skip


def _rows_exchanged(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """Rows and columns that are exchanged in a kernel that transposes rows x n."""
    for kernel in text.kernels:
        row = re.search(r"\b(\w+)\s*=\s*[^;,=]*/\s*n\s*[,;]", kernel.body)
        col = re.search(r"\b(\w+)\s*=\s*[^;,=]*%\s*n\s*[,;]", kernel.body)
        if (
            "transpose" not in kernel.name
            or not {"rows", "n", "x", "out"} <= {*kernel.names}
            or not (row and col)
        ):
            continue
        r, c = row[1], col[1]
        match = re.search(
            r"\bout\s*\[(?P<o>[^][;]{1,60})\]\s*=(?!=)\s*x\s*\[(?P<i>[^][;]{1,60})\]\s*;", kernel.body
        )
        if match is None:
            continue
        line, put, taken = text.line(kernel.start + match.start()), _place(match["o"]), _place(match["i"])
        right = f"`out[{c} * rows + {r}] = x[{r} * n + {c}];`"
        if (put, taken) == ((frozenset([r, "n"]), c), (frozenset([c, "rows"]), r)):
            cause = (
                f"The two indices are exchanged. x has rows of n elements, so element ({r}, {c}) of it lies at {r} * n + {c}; the rows "
                "of the result have `rows` elements."
            )
            yield Fact("rows-exchanged", line, cause, f"Write {right}.")
        elif (put, taken) == ((frozenset([r, "rows"]), c), (frozenset([c, "n"]), r)):
            cause = (
                "x has rows of n elements, so an element's row is its number divided by n, and its column what is left. The line that "
                f"moves it takes {c} for the row and {r} for the column, and here they are made the other way round."
            )
            yield Fact("rows-exchanged", text.line(kernel.start + row.start()), cause,
                       f"Let {c} be the one with `/ n`, and {r} the one with `% n`.")  # fmt: skip
        elif (put, taken) == ((frozenset([r, "rows"]), c), (frozenset([r, "n"]), c)):
            cause = (
                f"The result has n rows of `rows` elements, and {c} says in which of them the element comes to lie. Here {r} is "
                "multiplied by rows, as if it said that."
            )
            yield Fact("rows-exchanged", line, cause, f"Multiply the other one: `out[{c} * rows + {r}]`.")


def _taken_twice(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``sigmoid_residual(torch.sigmoid(self.gemm(x)), ...)``, where the kernel takes the sigmoid."""
    for node in text.nodes:
        if not isinstance(node, ast.Call) or not node.args or not isinstance(inner := node.args[0], ast.Call):
            continue
        own = text.function(ast.unparse(node.func).rpartition(".")[2])
        word = ast.unparse(inner.func).rpartition(".")[2]
        if own is None or word not in DOES or word not in own.name or not re.search(DOES[word], text.code):
            continue
        given = inner.args[0] if inner.args else inner
        cause = f"{own.name} computes the {NAMES[word]} itself, and here it gets `{text.quoted(inner)}`: it is taken twice, one of the other."
        yield Fact(
            "taken-twice",
            inner.lineno,
            cause,
            f"Hand over what it is to be taken of: `{text.quoted(given)}`.",
        )


def _place(index: str) -> tuple[frozenset[str], str]:
    """The two factors and the other term of ``a * b + c``, in any order; nothing for other indices."""
    found = re.fullmatch(r"\s*(?:(\w+)\s*\+\s*)?(\w+)\s*\*\s*(\w+)(?:\s*\+\s*(\w+))?\s*", index)
    if found is None or (found[1] is None) == (found[4] is None):
        return frozenset(), ""
    return frozenset([found[2], found[3]]), found[1] or found[4]


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_bounded_for_all, WRONG),
    (_e_by_hand, WRONG),
    (_not_the_exponential, WRONG),
    (_without_residual, WRONG),
    (_bias_taken_away, WRONG),
    (_less_the_row, WRONG | OUTSIDE),
    (_third_power, WRONG),
    (_taken_twice, WRONG),
    (_rows_exchanged, WRONG | OUTSIDE | TWICE),
)
