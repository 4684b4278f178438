"""A call that ended the whole process where an error was to be raised: ``assert``, ``abort()``, ``exit(1)``; see ``facts.py``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.backends.simt.compile.tokens import closing, tokenize
from grader.domain.verdict import Status
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding
    from grader.feedback.explain.source_text import CppFunction

ENDS = {
    "SIGABRT": re.compile(r"(?<![\w.>])(?:std\s*::\s*)?(?:abort|terminate)\s*\(\s*\)"),
    "exit": re.compile(r"(?<![\w.>])(?:std\s*::\s*)?(?:_exit|_Exit|exit|quick_exit)\s*\([^()]{0,80}\)"),
}
BRANCH = re.compile(
    r"\bif\s*\((?P<c>(?:[^(){};]|\((?:[^(){};]|\([^(){};]{0,80}\)){0,80}\)){1,200})\)\s*\{?[^{}]{0,400}$"
)
OPPOSITE = {"!=": "==", "==": "!=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def _in_cpp(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    said = finding.evidence
    asserted, refuse = said.get("asserted"), said.get("must_refuse")
    if said.get("kernel") or ", in kernel " in finding.message:
        return
    if asserted:
        yield from _asserted(text, int(asserted), refuse=bool(refuse))
        return
    ends = (
        ENDS["exit"]
        if "ended by itself with exit code" in finding.message
        else ENDS.get(str(said.get("signal")))
    )
    if ends is None or said.get("uncaught") or not refuse:
        return
    found = [(f, m) for f in text.host for m in ends.finditer(f.body)]
    if len(found) != 1:
        return
    ((function, call),) = found
    shown = " ".join(call[0].split())
    cause = f"`{shown}` ends the whole process, and with it Python, which gets no error that it could catch."
    yield Fact(
        "process-ended", text.line(function.start + call.start()), cause, _check(_right(function, call))
    )


def _asserted(text: SubmissionText, line: int, *, refuse: bool) -> Iterator[Fact]:
    """The ``assert`` of a line of host code, whose condition was false."""
    for function in text.host:
        for found in re.finditer(r"\bassert\s*\(", function.body):
            if text.line(function.start + found.start()) != line:
                continue
            tokens = tokenize(function.body[found.end() - 1 :])
            condition = "".join(t.text for t in tokens[1 : max(1, closing(tokens, 0))]).strip()
            asked = re.sub(r"^&&\s*|\s*&&$", "", " ".join(condition.split()))  # a text beside it is blanked
            cause = f"`{asked}` is false here, and a failed `assert` ends the whole process, so Python gets no error that it could catch."
            fix = f"These inputs are right ones: correct the condition `{asked}`."
            if refuse:
                cause += " Compiled with NDEBUG, it asks nothing at all."
                fix = _check(asked)
            yield Fact("process-ended", line, cause, fix)
            return


def _check(condition: str) -> str:
    return f'Raise an error: `TORCH_CHECK({condition or "..."}, "...");`.'


def _right(function: CppFunction, call: re.Match[str]) -> str:
    """What must be true so that the call is not reached; "" if it stands in no plain branch."""
    branch = BRANCH.search(function.body[max(0, call.start() - 600) : call.start()])
    if branch is None or re.search(r"\belse\b", branch[0]):
        return ""
    asked = " ".join(branch["c"].split())
    plain = re.fullmatch(r"(?P<l>[^<>=!&|]+?)\s*(?P<s>[!=<>]=|[<>])\s*(?P<r>[^<>=!&|]+)", asked)
    if plain:
        return f"{plain['l']} {OPPOSITE[plain['s']]} {plain['r']}"
    return asked[1:].strip() if re.fullmatch(r"!\s*[\w.]+(?:\(\))?", asked) else f"!({asked})"


def _in_python(_text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``sys.exit(1)`` for ``raise ValueError(...)``."""
    at = re.match(r"The file called exit\(.*\.py, line (?P<n>\d+): (?P<code>[^\n]*)\)\.$", finding.message)
    if at and finding.evidence.get("must_refuse"):
        call = re.search(r"(?:sys\.)?\b(?:exit|quit|SystemExit)\([^()]{0,80}\)", at["code"])
        cause = f"`{call[0] if call else 'SystemExit'}` ends the whole program, where the caller was to get an error."
        yield Fact("process-ended", int(at["n"]), cause, 'Raise one: `raise ValueError("...")`.')


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_in_cpp, frozenset({Status.CRASHED, Status.EXITED_EARLY})),
    (_in_python, frozenset({Status.EXITED_EARLY})),
)
