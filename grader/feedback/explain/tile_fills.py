"""A store into shared memory behind a guard that lets one thread too many through; see ``facts.py``."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from grader.feedback.explain.source_text import OUTSIDE, SIZE, WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding, Status
    from grader.feedback.explain.source_text import CppFunction

# ``if (i <= n) tile[t] = x[i];``
MOST = 16  # stores, and reads of each, that are looked at
AROUND = 2_000  # characters in front of a read that its conditions stand in
FILLED = re.compile(
    rf"\bif\s*\(\s*(?P<i>\w+(?:\(\))?)\s*<=\s*(?P<n>{SIZE})\s*\)\s*\{{?\s*(?P<s>\w+)\s*\[\s*(?P<t>[\w.]+)\s*\]\s*=\s*"
    r"(?P<v>(?P<x>\w+)\s*\[\s*(?P=i)\s*\])\s*;"
)


def _one_too_far(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``if (i <= n) tile[t] = x[i];`` where the neighbour's thread reads what lies behind the last element."""
    for kernel in text.kernels:
        for fill in islice(FILLED.finditer(kernel.body), MOST):
            read = _unguarded(kernel, fill)
            if not re.search(rf"__shared__[^;]*\b{fill['s']}\s*\[", kernel.body) or read is None:
                continue
            if re.match(r"\s*\}?\s*else\b", kernel.body[fill.end() :]):
                continue
            i, n, s, t, value = (fill[k] for k in ("i", "n", "s", "t", "v"))
            where, there = (text.line(kernel.start + m.start()) for m in (fill, read))
            largest = re.search(r"max\w*\s*\([^;]*$", kernel.body[: read.start()].rpartition(";")[2])
            nothing = "-INFINITY" if largest else "0"
            cause = (
                f"`{i} <= {n}` lets {i} = {n} through, and {value} is one past the end there. With `{i} < {n}` alone, {s}[{t}] "
                f"of that thread is written by nobody, and `{read[0]}` in line {there} reads it."
            )
            fix = f"Let that thread write {nothing}: `{s}[{t}] = {i} < {n} ? {value} : {nothing};`."
            yield Fact("fill-one-too-far", where, cause, fix)
            return


def _unguarded(kernel: CppFunction, fill: re.Match[str]) -> re.Match[str] | None:
    """The read of a place of the array further on, below the store, that asks for no bound of its own."""
    behind = re.compile(rf"\b{fill['s']}\s*\[\s*{re.escape(fill['t'])}\s*\+\s*(?P<k>\w+)\s*\]")
    for read in islice(behind.finditer(kernel.body, fill.end()), MOST):
        asked = " ".join(heads(kernel.body[max(0, read.start() - AROUND) : read.start()]))
        step = rf"(?:{re.escape(fill['t'])}|{re.escape(fill['i'])})\s*\+\s*{read['k']}\s*(?:<|>=)"
        last = rf"\b{re.escape(fill['i'])}\s*(?:<|==|!=|>=)\s*{fill['n']}\s*-"
        stored = re.match(r"\s*=(?!=)", kernel.body[read.end() :])
        if not stored and not re.search(rf"{step}|{last}|\bcount\b", asked):
            return read
    return None


def heads(before: str) -> list[str]:
    """The statement that ``before`` ends in, and the heads of the blocks around it."""
    depth, end, found = 0, len(before), []
    for at in range(len(before) - 1, -1, -1):
        sign = before[at]
        if depth == 0 and sign in ";{}" and end:
            found.append(before[at + 1 : end])
            end = 0
        if sign == "{" and depth == 0:
            end = at  # the head of this block is what comes next
        depth += (sign == "}") - (sign == "{" and depth > 0)
    return found


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = ((_one_too_far, WRONG | OUTSIDE),)
