"""A dimension that a tensor does not have: ``x.size(2)`` of a matrix, whose sizes are counted from 0."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.feedback.explain.indices import told
from grader.feedback.explain.source_text import Fact, read

if TYPE_CHECKING:
    from grader.domain.verdict import Finding
    from grader.feedback.explain.engine import Explanation

RANGE = re.compile(
    r"Dimension out of range \(expected to be in range of \[(-?\d+), (-?\d+)\], but got (-?\d+)\)"
)
ASKED = r"(?P<x>\b\w+)\s*\.\s*(?P<f>size|stride|sizes\s*\(\s*\)|strides\s*\(\s*\))\s*(?P<o>[(\[])\s*{}\s*(?=[)\]])"
LONGEST = 100
ROWS = re.compile(r"select\(\): index (\d+) out of range for tensor of size \[(\d+), [^\]]*\]")
WHOLE = "Compute with {x} as a whole, as in Python: `+` and `*` need no loop, and are right for every shape."


def rows(finding: Finding, source: str) -> Explanation | None:
    """``for (i < x.numel()) ... x[i]``, where x[i] is a row."""
    said, text = ROWS.search(finding.message), read(source)
    loops = re.finditer(
        r"\bfor\s*\([^;]{0,40}?\b(?P<i>\w+)\s*=\s*0\s*;\s*(?P=i)\s*<\s*(?P<x>\w+)\s*\.\s*numel\s*\(\s*\)",
        text.code,
    )
    for loop in loops if said else ():
        x, i = loop["x"], loop["i"]
        indexed = set(re.findall(rf"\b(\w+)\s*\[\s*{i}\s*\]", text.code[loop.end() :]))
        like = set(re.findall(rf"\b(\w+)\s*=\s*[\w:]+_like\s*\(\s*{x}\b", text.code))
        if said and x in indexed and indexed <= {x, *like}:  # else it may be another one that has rows
            cause = (
                f"`{x}[{i}]` of a tensor with several dimensions is one of its rows, here of {said[2]}, and this loop "
                f"counts up to `{x}.numel()`, the number of all elements."
            )
            return told(
                Fact("rows-for-elements", text.line(loop.start()), cause, WHOLE.format(x=x)), source, "01"
            )
    return None


def out_of_range(finding: Finding, source: str) -> Explanation | None:
    """The one place that asks for the dimension which the tensor lacks; None if there is none, or are several."""
    said = RANGE.search(finding.message)
    text = read(source)
    if said is None or int(said[3]) <= int(said[2]) or text.tree is None:
        return None
    code = text.code or source
    found = list(re.finditer(ASKED.format(said[3]), code))
    if len(found) != 1:
        return None
    (one,) = found
    count, last, wrong = int(said[2]) + 1, said[2], "".join(one[0].split())
    close = ")" if one["o"] == "(" else "]"
    call = f"{one['x']}.{''.join(one['f'].split())}{one['o']}"
    cause = (
        f"Dimensions are counted from 0: a tensor of {count} has the dimensions 0 to {last}, and `{wrong}{close}` asks for one more."
        if count > 1
        else f"Dimensions are counted from 0: a tensor of one has the dimension 0 alone, and `{wrong}{close}` asks for another."
    )
    line = text.line(one.start()) if text.code else source.count("\n", 0, one.start()) + 1
    statement = source.splitlines()[line - 1].strip()
    every = re.compile(rf"(?<!\w){re.escape(call)}\s*(\d+)\s*(?=[)\]])")
    asked = sorted(int(k) for k in every.findall(statement))
    fix = f"The last one is `{call}{last}{close}`."
    if statement.startswith("for") and re.search(
        rf"\b{one['x']}\s*\[\s*\w+\s*\]\s*\[", code
    ):  # a loop for each dimension, of a tensor that may have more or fewer
        fix = WHOLE.format(x=one["x"])
    elif asked == list(range(1, count + 1)) and len(statement) < LONGEST:  # all of them, each by one too much
        fix = f"Write `{every.sub(lambda m: f'{call}{int(m[1]) - 1}', statement)}`."
    return told(Fact("no-such-dimension", line, cause, fix), source, "01")
