"""Ranges around an element that end before its right neighbour: ``range(i - 1, i + 1)``, ``x[i - 1:i + 1]``; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.feedback.explain.source_text import WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding, Status

LOOP = re.compile(
    r"\bfor\s*\(\s*(?:const\s+)?(?:int|int64_t|long|auto|size_t)\s+(?P<j>\w+)\s*=\s*(?P<b>[^;<>=]+);\s*(?P=j)\s*(?P<s><(?!=)|!=)\s*(?P<e>[^;]+);"
)
CLIPPED = re.compile(r"\bmin\(.*?(?<![\w.])(?P<n>(?P<size>n|len\(\w+\)) - 1)\b")
BEFORE = r"(?<![\w.])(?P<i>[A-Za-z_]\w*)\s*-\s*(?P<k>\d+|[A-Z_]+|radius|r)\b"


def _around(begin: str, end: str) -> tuple[str, str, str] | None:
    """The element, the distance to both sides of it and the end as written, if the end is as far as the last neighbour."""
    first = re.search(BEFORE, begin)
    if first is None:
        alone = re.fullmatch(r"\s*-\s*(\d+|radius|[A-Z_]+)\s*", begin)  # for (int d = -1; d < 1; ++d)
        end = end.strip()
        return ("", alone[1], end) if alone and end == alone[1] else None
    last = rf"(?<![\w.]){first['i']}\s*\+\s*{first['k']}(?![\w.]|\s*[-+*/])"
    found = re.search(last, end)
    return (first["i"], first["k"], found[0]) if found else None


def _one_further(place: tuple[str, str, str]) -> str:
    i, k, code = place
    further = str(int(k) + 1) if k.isdigit() else f"{k} + 1"
    return f"{i} + {further}" if i else (further if k.isdigit() else code + " + 1")


def _in_python(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``range(i - 1, i + 1)`` and ``x[i - 1:i + 1]`` in the kernel that the check has run."""
    named = finding.evidence.get("on_grid") if "would have to be read" in finding.message else None
    for function in text.nodes if named else ():
        if not isinstance(function, ast.FunctionDef) or function.name != named:
            continue
        for node in ast.walk(function):
            match node:
                case ast.Call(func=ast.Name(id="range"), args=[begin, end]):
                    what = "range"
                case ast.Slice(lower=ast.expr() as begin, upper=ast.expr() as end, step=None):
                    what = "a slice"
                case _:
                    continue
            first, last = ast.unparse(begin), ast.unparse(end)
            place, clipped = _around(first, last), CLIPPED.search(last)
            if place is None and not (clipped and re.search(BEFORE, first)):
                continue
            ends = place[2] if place else clipped["n"] if clipped else ""
            further = last.replace(ends, _one_further(place), 1) if place else last
            further = CLIPPED.sub(lambda m: m[0].replace(m["n"], m["size"]), further)
            cause = f"The end of {what} is left out: `{text.segment(node)}` never comes to {ends}."
            yield Fact(
                "short-range", node.lineno, cause, f"Write `{further}` in place of `{text.segment(end)}`."
            )
            return


def _in_cpp(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``for (int j = i - 1; j < i + 1; ++j)`` and ``for (int d = -1; d < 1; ++d)``."""
    for function in text.functions:
        for loop in LOOP.finditer(function.body):
            place = _around(loop["b"], loop["e"])
            if place is None:
                continue
            j, sign, end = loop["j"], loop["s"], " ".join(loop["e"].split())
            cause = f"`{j} {sign} {end}` leaves out {j} = {place[2].strip()}, so this loop ends before the last neighbour on the right."
            right = f"{j} <= {end}"
            if (further := end.replace(place[2], _one_further(place), 1)) and re.search(
                r"\bmin\s*\(|[?,]", end
            ):
                right = f"{j} {sign} {further}"
            if re.search(r"-\s*1\s*\)", end):  # the number of the last element, which belongs to it
                right = f"{j} <= {end}"
            yield Fact("short-range", text.line(function.start + loop.start()), cause, f"Write `{right}`.")
            return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_in_python, WRONG),
    (_in_cpp, WRONG),
)
