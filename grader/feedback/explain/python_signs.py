"""Signs and words of other languages in a line of Python, which its parser refuses: ``=<``, ``&&``, ``else if``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.feedback.explain import indices
from grader.feedback.explain.source_text import Fact, read

if TYPE_CHECKING:
    from grader.domain.verdict import Finding
    from grader.feedback.explain.engine import Explanation

SIGNS = (  # what stands there, what to write, and why
    (r"=<", "<=", "`=<` is no operator: less or equal is `<=`, with the `=` last."),
    (r"=>", ">=", "`=>` is no operator: greater or equal is `>=`, with the `=` last."),
    (r"=!(?!=)", "!=", "`=!` is no operator: not equal is `!=`, with the `=` last."),
    (r"<>", "!=", "`<>` is no operator: not equal is `!=`."),
    (r"&&", "and", "`&&` is C++'s; in Python it is `and`."),
    (r"\|\|", "or", "`||` is C++'s; in Python it is `or`."),
    (r"(?<![\w)\]=])!(?!=)\s*(?=[\w(])", "not ", "`!` is C++'s; in Python it is `not`."),
    (r"\+\+", "+= 1", "`++` is C++'s; Python has no such operator."),
    (r"--(?=\s*$)", "-= 1", "`--` is C++'s; Python has no such operator."),
    (r"\belse\s+if\b", "elif", "`else if` is C++'s; in Python it is `elif`."),
)
TEXT = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|#.*")
LONGEST = 120
FORMATTED = re.compile(r"(?<!\w)(?P<p>[rR]?[fF][rR]?)(?P<q>\"{3}|'{3})")


def refused(finding: Finding, source: str) -> Explanation | None:
    """The sign that a line must not have, where that line is what Python could not read; None if there is none."""
    line, lines = finding.evidence.get("line"), source.splitlines()
    if formatted := _formatted(finding, source):
        return formatted
    if outside := _outside_a_loop(finding, lines):
        return indices.told(outside, source)
    if "SyntaxError" not in finding.message or not isinstance(line, int) or not 0 < line <= len(lines):
        return None
    bare = TEXT.sub(lambda m: " " * len(m[0]), lines[line - 1])
    for sign, right, cause in SIGNS:
        found = list(re.finditer(sign, bare))
        if not found or (right == ">=" and "lambda" in bare) or ('"""' in bare and right == "+= 1"):
            continue
        code = lines[line - 1]
        for one in reversed(found):
            put = f" {right}" if right in ("+= 1", "-= 1") and code[: one.start()][-1:].strip() else right
            code = code[: one.start()] + put + code[one.end() :]
        fix = f"Write `{code.strip()}`." if len(code.strip()) < LONGEST else f"Write `{right.strip()}`."
        return indices.told(Fact("python-sign", line, cause, fix), read(source).source)
    return None


def _outside_a_loop(finding: Finding, lines: list[str]) -> Fact | None:
    """``continue`` and ``break`` for a ``return``."""
    said = re.search(
        r"SyntaxError: '(?P<w>continue|break)' (?:not properly in|outside) loop.*?\.py, line (?P<n>\d+)",
        finding.message,
    )
    if said is None or not 0 < int(said["n"]) <= len(lines):
        return None
    line, word = int(said["n"]), said["w"]
    does = "goes on with the next turn of a loop" if word == "continue" else "leaves a loop"
    inside = lines[line - 1][:1].isspace()
    fix = f"To leave the function there, write `return` in place of `{word}`." if inside else ""
    return Fact("left-outside-loop", line, f"`{word}` {does}, and this line stands in none.", fix)


def _formatted(finding: Finding, source: str) -> Explanation | None:
    """``f\"\"\"`` before a text of C++, whose braces Python then reads as its own."""
    refused = re.search(r"SyntaxError:.*?f-string|NameError: name '(?P<name>\w+)'", finding.message)
    for one in FORMATTED.finditer(source) if refused else ():
        body, end, _ = source[one.end() :].partition(one["q"])
        name = refused["name"] if refused else None
        braces = re.search(rf"(?<!{{){{\s*{name}\b" if name else r"[;)]\s*}|{\s*$|{\s*}", body, re.M)
        if not end or not braces or not re.search(r"[)}];?\s*\{|;\s*$", body, re.M):
            continue
        line = source.count("\n", 0, one.start()) + 1
        plain = one["p"].lower().replace("f", "") or "r"
        cause = "This text begins with f, so Python takes what stands in its braces for code of its own; the braces of C++ are meant."
        fix = f"Write `{plain}{one['q']}`."
        return indices.told(Fact("formatted-cpp", line, cause, fix), read(source).source)
    return None
