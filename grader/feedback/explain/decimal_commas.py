"""Facts about numbers written with a decimal comma, ``2695,6``, which are two values for Python; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import indices
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText, segment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.feedback.explain.engine import Explanation

THOUSANDS = r"(?<![\w.,])(?P<n>[1-9]\d{0,2}(?:,\d{3}){2,})(?![\w.,]\d)"
PAIR = r"(?<![\w.,])(?P<a>\d+(?:\.\d{3})*),(?P<b>\d+)(?P<d>(?:(?<=,\d{3})\.\d+)?)(?P<f>f?)(?![\w.])"
# What Python or a compiler says of it, and where the number stands then.
REFUSED = (
    (r"':' expected after dictionary key", rf":\s*-?{PAIR}\s*(?=[,}}#]|$)"),
    (r"positional argument follows keyword argument", rf"\b\w+\s*=\s*-?{PAIR}\s*(?=[,)#]|$)"),
    (r"leading zeros in decimal integer literals", PAIR.replace(r"(?P<b>\d+)", r"(?P<b>0\d+)")),
    (
        r"before numeric constant|numeric literal operator|invalid suffix|expected identifier",
        rf"=\s*-?{PAIR}\s*[;,]",
    ),
    (r"numeric literal operator|invalid suffix", PAIR.replace("f?", "f")),
)
UP = 20  # lines of a call above the place that Python names
STATUSES = frozenset(
    {Status.WRONG_ANSWER, Status.RAISED, Status.WRONG_OUTPUT, Status.WRONG_SHAPE, Status.NOT_A_TENSOR}
)


def refused(finding: Finding, source: str) -> Explanation | None:
    """The same where Python, or the compiler, refuses the file for it."""
    lines, named = source.splitlines(), re.search(r"line (\d+): ", finding.message)
    line = int(named[1]) if named else 0
    if not 0 < line <= len(lines):
        return None
    for said, form in REFUSED:
        if not re.search(said, finding.message):
            continue
        if many := re.search(THOUSANDS, lines[line - 1]):
            return indices.told(_thousands(line, many["n"]), source)
        for number in range(line, max(0, line - UP), -1):
            if found := re.search(form, lines[number - 1]):
                return indices.told(_fact(number, found), source)
            if "keyword" not in said:
                break
    return None


def _thousands(line: int, number: str) -> Fact:
    parts = number.split(",")
    cause = f"`{number}` is {len(parts)} values, {', '.join(parts[:-1])} and {parts[-1]}: a number has no commas in it, not even between thousands."
    return Fact(
        "decimal-comma",
        line,
        cause,
        f"If one number is meant, write `{''.join(parts)}` or `{'_'.join(parts)}`.",
    )


def _fact(line: int, found: re.Match[str]) -> Fact:
    a, b, f = found["a"], found["b"], found["f"]
    if found["d"]:
        b += found["d"]
        cause = f"`{a},{b}{f}` is two values, {a} and {b}{f}: a number has no commas in it, not even between thousands."
        return Fact("decimal-comma", line, cause, f"If one number is meant, write `{a}{b}{f}`.")
    cause = (
        f"`{a},{b}{f}` is two values, {a} and {b}{f}: a comma stands between values, and never in a number."
    )
    return Fact(
        "decimal-comma",
        line,
        cause,
        f"If one number is meant, write `{a.replace('.', '')}.{b}{f}`, with a point.",
    )


def _two_values(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``x = 2,5``, ``return 2,5``, ``f(x, 0,5)`` and ``[0,5, 1,5]``: no space, as within a number."""
    lines = {int(n) for n in re.findall(r"\bline (\d+)", finding.message, re.I)}
    refused = finding.status is Status.RAISED and re.search(r"\bargument|\bgiven\b", finding.message)
    for node in text.nodes:
        if not isinstance(node, ast.Tuple | ast.List | ast.Call):
            continue
        code = segment(text.source, node) or ""
        found = None
        if isinstance(node, ast.Tuple):
            found = re.fullmatch(rf"\(?\s*{PAIR}\s*\)?", code)
            if found and not re.search(
                rf"[\[(]{found['a']}, {found['b']}[\])]|\b(?:tuple|sequence)\b", finding.message
            ):
                found = None
        elif isinstance(node, ast.List):
            found = re.fullmatch(rf"\[\s*{PAIR}(?:,\s+\d+,\d+)+,?\s*\]", code)
        elif refused and lines & {*range(node.lineno, (node.end_lineno or 0) + 1)}:
            spaced = re.search(r",\s", code)  # as between its other values
            found = re.search(rf"(?<=[(\s]){PAIR}(?=\s*[,)])", code) if spaced else None
        if found:
            above = code.count("\n", 0, found.start("a"))
            yield _fact(node.lineno + above, found)


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = ((_two_values, STATUSES),)
