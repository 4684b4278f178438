"""What Python reads otherwise than C++, which takes it without an error: ``0 < t < n``, ``x ^ 2``, ``tile[-1]``; see ``facts.py``."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from grader.feedback.explain.source_text import OUTSIDE, TWICE, WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding, Status

MOST = 16
TERM = r"[A-Za-z_]\w*(?:\.[xyz])?(?:\(\))?|\d+"
CHAIN = re.compile(
    rf"(?<=[(&|?=!])\s*(?P<a>{TERM})\s*(?P<o>[<>]=?)\s*(?P<b>{TERM})\s*(?P<p>[<>]=?)\s*"
    rf"(?P<c>(?:{TERM})(?:\s*[-+*]\s*(?:{TERM}))?)\s*(?=\)|&&|\|\||\?|;)"
)
POWER = re.compile(r"(?P<a>[A-Za-z_]\w*\s*\[[^][;]{1,60}\])\s*\^\s*(?P<k>[23])(?![\w.])")
BACKWARDS = re.compile(r"\b(?P<a>[A-Za-z_]\w*)\s*\[\s*(?P<i>-\s*(?:[A-Za-z_]\w*|\d+)(?:\s*-\s*\w+)?)\s*\]")
BELOW = re.compile(r"(?:reads|writes|updates) element -\d+ of (?P<a>\w+)")


def _chained(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``if (0 < t < SIZE - 1)``, which compares true or false with ``SIZE - 1``."""
    for function in text.functions:
        for match in islice(CHAIN.finditer(function.body), MOST):
            a, o, b, p, c = (" ".join(match[k].split()) for k in "aobpc")
            if o[0] != p[0]:
                continue  # `a < b > c`: a template's brackets, say
            at = function.start + match.start("a")
            cause = (
                f"C++ does not chain comparisons: `{a} {o} {b} {p} {c}` is `({a} {o} {b}) {p} {c}`. What stands in brackets is true "
                f"or false, 1 or 0, and that number is compared with {c}; {b} is not."
            )
            yield Fact("chained", text.line(at), cause, f"Ask both: `{a} {o} {b} && {b} {p} {c}`.")
            return


def _bits_for_power(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``out[i] = x[i] ^ 2``."""
    for function in text.functions:
        for match in islice(POWER.finditer(function.body), MOST):
            a, k = " ".join(match["a"].split()), int(match["k"])
            cause = f"`^` is not a power in C++: `{a} ^ {k}` flips single bits of {a} (the exclusive or of the two numbers)."
            yield Fact("bits-for-power", text.line(function.start + match.start()), cause,
                       f"Multiply: `{' * '.join([a] * k)}`, in a type that holds the result.")  # fmt: skip
            return


def _from_behind(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``tile[-t - 1]`` as a list of Python would take it."""
    for seen in finding.evidence.get("seen") or []:
        below = BELOW.match(str(seen.get("what")))
        for kernel in text.kernels if below else ():
            for match in islice(BACKWARDS.finditer(kernel.body), MOST):
                line, a = text.line(kernel.start + match.start()), match["a"]
                if below is None or a != below["a"] or line != seen.get("line"):
                    continue
                declared = re.search(rf"__shared__[^;]*?\b{a}\s*\[\s*([^][]+?)\s*\]\s*[;,]", kernel.body)
                count = re.search(r"\b(count)\s*=(?!=)", kernel.body)
                many = count[1] if count else declared[1] if declared else "n"
                cause = (
                    f"A negative index counts from the end in Python alone. In C++ `{match[0]}` lies in front of {a}: it is "
                    "memory that belongs to something else."
                )
                index = " ".join(match["i"].split())
                fix = f"Count from the end by hand, with how many elements there are: `{a}[{many} {index.replace('-', '- ', 1).replace('-  ', '- ')}]`."
                yield Fact("from-behind", line, cause, fix)
                return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_chained, WRONG | OUTSIDE | TWICE),
    (_bits_for_power, WRONG),
    (_from_behind, OUTSIDE),
)
