"""Facts about numbers that are made of many: additions by several blocks, differences of squares; see ``facts.py``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Evidence, Finding, Status
from grader.feedback.explain.source_text import TWICE, WRONG, Fact, Finder, SubmissionText
from grader.feedback.explain.together import LOOP

if TYPE_CHECKING:
    from collections.abc import Iterator

NEARLY = 0.01  # of the result
# `*out += sum`, `out[0] = sum`: the element, how it is changed, by what.
CHANGED = re.compile(
    r"(?<![\w)\]])(?P<to>\*\s*(?P<p>\w+)|(?P<a>\w+)\s*\[\s*(?P<k>\d+)\s*\])\s*(?P<sign>[-+]?=)(?!=)\s*(?P<by>[^;]*);"
)


def _by_several_blocks(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """One element of a tensor, to which blocks add, or which each of them sets."""
    lines = text.source.splitlines()
    for seen in finding.evidence.get("seen") or []:
        line = seen.get("line")
        if seen.get("kind") != "global-race" or not isinstance(line, int) or not 0 < line <= len(lines):
            continue
        match = _changed_by_both(seen, lines[line - 1])
        if match is None:
            continue
        place = match["p"] or (match["a"] if match["k"] == "0" else f"{match['a']} + {match['k']}")
        add = f"`atomicAdd({place}, {'-' if match['sign'] == '-=' else ''}{match['by'].strip()});`"
        what = match[0].rstrip(";")
        if match["sign"] == "=":
            cause = f"Several threads set the same element here (`{what}`): the one that comes last wins, and what the others bring is lost."
            yield Fact("last-one-wins", line, cause,
                       f"If it should be the sum of what they bring, add each with an atomic operation: {add} If not, let one thread write it.")  # fmt: skip
        else:
            cause = (
                f"`{what}` is three steps: to read, to add, to write. Several threads do this with the same element, so two may "
                "read the same old number, and one addition is lost."
            )
            yield Fact("lost-addition", line, cause, f"Do the three as one, by an atomic operation: {add}")
        return


def _changed_by_both(seen: Evidence, line: str) -> re.Match[str] | None:
    """The statement of this line to which both of the accesses belong; None where that cannot be told.

    A line may hold other statements: it is the one that changes the array that the threads met in.
    """
    other, name = seen.get("other") or {}, (seen.get("tensor") or {}).get("argument")
    if other.get("line") != seen.get("line"):
        return None
    found = [m for m in CHANGED.finditer(line) if name in (None, m["p"] or m["a"])]
    if len(found) != 1 or (
        found[0]["sign"] == "=" and {seen.get("access"), other.get("access")} != {"write"}
    ):
        return None
    return found[0]


def _nearly_right(finding: Finding) -> bool:
    """Whether what differs are the last digits."""
    off, wanted = (finding.evidence.get(key) for key in ("largest_error", "expected"))
    small = isinstance(off, int | float) and isinstance(wanted, int | float) and off < NEARLY * abs(wanted)
    return small or finding.status is Status.PRECISION


def _difference_of_squares(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """The textbook's variance, in single precision."""
    for kernel in text.kernels:
        for match in re.finditer(
            r"\b(?P<all>(?P<a>\w+)(?:\s*/\s*\w+)?\s*-\s*(?P<b>\w+)\s*\*\s*(?P=b))\b", kernel.body
        ):
            of_squares = re.search(rf"\b{match['a']}\s*\+=\s*(?P<v>[^;*]+?)\s*\*\s*(?P=v)\s*;", kernel.body)
            wide = re.search(rf"\bdouble\s[^;]*\b{match['a']}\b", kernel.body)
            if of_squares and not wide and _nearly_right(finding):
                cause = (
                    f"`{match['all']}` is a difference of two numbers that are nearly the same wherever the mean is large beside "
                    "the deviation: the digits that they share are gone, and those that are left have been rounded."
                )
                fix = (
                    "Keep how many numbers there are, their mean, and the sum of the squared distances from it, and merge "
                    "those (Welford's method)."
                )
                yield Fact("difference-of-squares", text.line(kernel.start + match.start()), cause, fix)


def _on_by_one(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A loop from the thread's own number in steps of one."""
    for kernel in text.kernels:
        for match in LOOP.finditer(kernel.body):
            i = match["i"]
            if match["from"].strip() == "threadIdx.x" and re.fullmatch(
                rf"(?:\+\+\s*{i}|{i}\s*\+\+|{i}\s*\+=\s*1)", match["step"].strip()
            ):
                cause = "Each thread begins at its own number and goes on by 1, so the threads of a block take the same elements again and again."
                yield Fact("on-by-one", text.line(kernel.start + match.start()), cause,
                           f"Go on by the number of threads in the block: `{i} += blockDim.x`.")  # fmt: skip


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_by_several_blocks, frozenset({Status.RACE})),
    (_difference_of_squares, frozenset({Status.PRECISION, Status.WRONG_OUTPUT})),
    (_on_by_one, WRONG | TWICE),
)
