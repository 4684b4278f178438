"""Parts of a sum in branches: one that is left out by ``else``, one that ``=`` writes over, ends that store nothing; see ``facts.py``."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from grader.feedback.explain.source_text import WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding, Status

MOST = 16
CONDITION = r"[^;{}()]{1,80}"
PLACE = r"[A-Za-z_]\w*(?:\s*\[[^][;]{1,40}\])?"
BOTH = re.compile(
    rf"\bif\s*\((?P<a>{CONDITION})\)\s*\{{?\s*(?P<s>{PLACE})\s*\+=\s*(?P<x>[^;{{}}]{{1,80}});\s*\}}?\s*"
    rf"(?P<else>else)\s+if\s*\((?P<b>{CONDITION})\)\s*\{{?\s*(?P=s)\s*\+=\s*(?P<y>[^;{{}}]{{1,80}});"
)
STORED = re.compile(rf"(?<![\w.>*])(?P<s>{PLACE})\s*=(?!=)\s*(?P<v>[^;{{}}]{{1,120}});")
AGAIN = re.compile(
    rf"\bif\s*\((?P<a>{CONDITION})\)\s*\{{?\s*(?P<s>{PLACE})\s*=(?!=)\s*(?P<v>[^;{{}}]{{1,120}});"
)
BARE = re.compile(
    rf"\bif\s*\((?P<a>{CONDITION})\)\s*\{{?\s*(?P<o>\w+)\s*\[[^;{{}}]{{1,200}}?\]\s*=(?!=)[^;{{}}]*;\s*\}}?"
)
SIDES = re.compile(r"\s*(?P<l>[^<>=!&|]+?)\s*(?P<o>[<>]=?|!=)\s*(?P<r>[^<>=!&|]+?)\s*")
MISSING = re.compile(
    r"(?P<k>\d[\d,]*) of (?P<n>\d[\d,]*) elements of [^ ]+ were never written, the first is element (?P<e>\d+)"
)


def _direction(condition: str) -> tuple[str, bool] | None:
    """The variable that a condition bounds, and whether from below; None for other conditions."""
    sides = SIDES.fullmatch(condition)
    if sides is None or sides["o"] == "!=":
        return None
    words = re.findall(r"[a-z]\w*(?:\.x)?", sides["l"]), re.findall(r"[a-z]\w*(?:\.x)?", sides["r"])
    side = 0 if words[0] else 1
    return (words[side][0], (sides["o"][0] == ">") == (side == 0)) if words[side] else None


def _one_of_two(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``if (t > 0) sum += tile[t - 1]; else if (t + 1 < SIZE) sum += tile[t + 1];``."""
    for kernel in text.kernels:
        for match in islice(BOTH.finditer(kernel.body), MOST):
            one, other = _direction(match["a"]), _direction(match["b"])
            if one is None or other is None or one[0] != other[0] or one[1] == other[1]:
                continue
            a, b, x, y, s = (" ".join(match[k].split()) for k in "abxys")
            cause = f"`else` asks `{b}` only where `{a}` is false. A thread for which both are true adds `{x}` to {s}, and never `{y}`."
            yield Fact("one-of-two", text.line(kernel.start + match.start("else")), cause,
                       f"Ask both, one after the other: leave `else` out, `if ({b}) {s} += {y};`.")  # fmt: skip


def _written_over(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``out[i] = tile[t]; if (t > 0) out[i] = tile[t - 1]; if (...) out[i] += ...``."""
    for kernel in text.kernels:
        for match in islice(AGAIN.finditer(kernel.body), MOST):
            place, value = match["s"], " ".join(match["v"].split())
            before = [
                m for m in islice(STORED.finditer(kernel.body, 0, match.start()), MOST) if m["s"] == place
            ]
            behind = kernel.body[match.end() :]
            if re.match(r"\s*\}?\s*else\b", behind) or not before or place in value:
                continue
            if not re.search(rf"(?<![\w.]){re.escape(place)}\s*\+=", behind):
                continue
            first = " ".join(before[-1]["v"].split())
            if not re.search(r"[A-Za-z_]\w*\s*\[", first) or not re.search(r"\w\s*\[", value):
                continue  # a first value that a thread may replace
            line = text.line(kernel.start + before[-1].start("s"))
            a = " ".join(match["a"].split())
            cause = f"`=` puts `{value}` in the place of what line {line} has stored in {place}, `{first}`: where `{a}` is true, that is lost."
            yield Fact("written-over", text.line(kernel.start + match.start("s")), cause,
                       f"To add to it, write `{place} += {value};`.")  # fmt: skip


def _ends_not_stored(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``if (t > 0 && t < SIZE - 1) out[i] = ...;`` and nothing for the others."""
    missing = MISSING.search(finding.message)
    if missing is None:
        return
    for kernel in text.kernels:
        own = {m[1] for m in re.finditer(r"\b(\w+)\s*=\s*threadIdx\.x\s*[;,]", kernel.body)} | {"threadIdx.x"}
        for match in islice(BARE.finditer(kernel.body), MOST):
            o, a = match["o"], " ".join(match["a"].split())
            names = set(re.findall(r"[A-Za-z_]\w*(?:\.x)?", a)) - {"and", "or", "not", "SIZE", "blockDim.x"}
            if not names or not names <= own or o not in kernel.names or "==" in a:
                continue
            if re.match(r"\s*else\b", kernel.body[match.end() :]):
                continue
            if len(re.findall(rf"(?<![\w.]){o}\s*\[", kernel.body)) != 1:
                continue
            cause = f"Threads for which `{a}` is false store nothing: their elements of {o} stay unwritten, {missing['k']} of {missing['n']}."
            fix = (
                "Each thread has an element to store. Let all of them do it, and ask only for the part that is missing at an end: "
                "`(t > 0 ? ... : 0)`."
            )
            fix = fix.replace("t > 0", f"{min(own, key=len)} > 0")
            yield Fact("ends-not-stored", text.line(kernel.start + match.start()), cause, fix)


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_one_of_two, WRONG),
    (_written_over, WRONG),
    (_ends_not_stored, WRONG),
)
