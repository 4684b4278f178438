"""Launches below a condition without an ``else``: no kernel runs, or two do; see ``facts.py``."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from grader.backends.simt.compile.tokens import Tokens, closing, following, joined, tokenize
from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 100  # conditions that are looked at
NOTHING = re.compile(
    r"\b(?P<n>\d+) of (?P=n) elements of \S.*? were never written"
    r"|element 0(?:, 0)* of \w+\[1(?:, 1)*\] was never written"
)


def _no_else(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``if (vec == 4) { ... <<<...>>> ... }`` alone, where no element was written at all."""
    if not NOTHING.search(finding.message):
        return
    for host in text.host:
        tokens = tokenize(host.body)
        launches = [i for i, token in enumerate(tokens) if token.text == "<<<"]
        for i, token in enumerate(tokens if launches else ()):
            if token.text != "if" or (behind := _behind(tokens, i)) is None:
                continue
            condition, end = behind
            if not (i < launches[0] and launches[-1] < end) or tokens.at(following(tokens, end)) == "else":
                continue
            first = host.start + len(joined(tokens[:i]))
            last = text.line(host.start + len(joined(tokens[:end])))
            idle = [k.name for k in text.kernels if len(re.findall(rf"\b{k.name}\b", text.code)) == 1]
            cause = f"A kernel is launched only where `{condition}` holds; where it does not, none runs and nothing is written."
            fix = f"Behind line {last} an `else` is missing, with a launch for that case"
            if idle:
                cause += f" Nothing launches {idle[0]}."
                fix += f", of {idle[0]}"
            yield Fact("launched-in-part", text.line(first), cause, f"{fix}.")
            return


def _both(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``if (vec == 4) wide<<<...>>>(...); plain<<<...>>>(...);``, where more is counted than allowed."""
    if not re.match(r"Counted [\d,]+ ", finding.message):
        return
    for host in text.host:
        tokens = tokenize(host.body)
        if not any(token.text == "<<<" for token in tokens):
            continue
        for i in islice((i for i, token in enumerate(tokens) if token.text == "if"), MOST):
            if (behind := _behind(tokens, i)) is None:
                continue
            condition, end = behind
            next_one = following(tokens, end)
            below = joined(tokens[i:end])
            first = re.search(r"\b(\w+)\s*<<<", below)
            if (
                not first
                or re.search(r"\breturn\b", below)
                or tokens.at(following(tokens, next_one)) != "<<<"
            ):
                continue
            one, two = first[1], tokens[next_one].text
            line = text.line(host.start + len(joined(tokens[:next_one])))
            cause = (
                f"This launch stands behind the `if` and not in an `else`: where `{condition}` holds, both kernels run, {one} and "
                f"then {two}."
            )
            yield Fact(
                "launched-twice", line, cause, f"If {two} is for the other case only, write `else` before it."
            )
            return


def _behind(tokens: Tokens, i: int) -> tuple[str, int] | None:
    """The condition of the ``if`` at ``i`` and the last token of what it decides about; None if it does not end."""
    opened = following(tokens, i)
    if tokens.at(opened) != "(" or (closed := closing(tokens, opened)) < 0:
        return None
    begun = following(tokens, closed)
    end = closing(tokens, begun) if tokens.at(begun) == "{" else begun
    while 0 <= end < len(tokens) and tokens[end].text not in (";", "}"):
        end += 1
    condition = " ".join(joined(tokens[opened + 1 : closed]).split())
    return (condition, end) if 0 < end < len(tokens) else None


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_no_else, WRONG),
    (_both, frozenset({Status.FAILED})),
)
