"""Launches that all stand below one condition: where it does not hold no kernel runs; see ``facts.py``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.backends.simt.compile.tokens import Tokens, closing, following, joined, tokenize
from grader.feedback.explain.source_text import WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding, Status

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


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = ((_no_else, WRONG),)
