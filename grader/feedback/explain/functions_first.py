"""Failed checks of a function that the exercise's own function calls: the cause before its consequence."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.domain import python_text
from grader.domain.verdict import PENDING, Finding, Status
from grader.feedback.explain.source_text import Fact, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.domain.task import Task

SILENT = PENDING | {Status.NOT_RUN}


def marked(findings: Sequence[Finding], task: Task, source: str) -> list[Finding]:
    """The findings; those that explain another one have ``evidence["part"]``, the function that is wrong.

    That is so if the check is of a Python function of its own (``Case.entry``), which a function that failed
    as well calls, itself or through others. Where a task has several functions, a failed case's
    ``evidence["function"]`` is the one that it calls.
    """
    entries = {case.name: case.entry or task.entry for case in task.cases}
    if len(set(entries.values())) > 1:
        findings = [
            f
            if f.ok or f.id not in entries
            else replace(f, evidence=f.evidence | {"function": entries[f.id]})
            for f in findings
        ]
    bad = {entries[f.id] for f in findings if f.id in entries and not f.ok and f.status not in SILENT}
    if len(bad) < 2:
        return list(findings)
    called = _called(source)
    below = {part for entry in bad for part in _reached(entry, called) - {entry}} & bad

    def mark(finding: Finding) -> Finding:
        part = entries.get(finding.id)
        if part not in below or finding.ok or finding.status in SILENT:
            return finding
        return replace(finding, evidence=finding.evidence | {"part": part})

    return [mark(finding) for finding in findings]


def _called(source: str) -> dict[str, set[str]]:
    """Each function and class of the file, and the names that it uses."""
    try:
        tree = python_text.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    return {
        node.name: {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


def _reached(name: str, called: dict[str, set[str]]) -> set[str]:
    found, todo = set[str](), [name]
    while todo:
        for one in called.get(todo.pop(), set()) & called.keys() - found:
            found.add(one)
            todo.append(one)
    return found


def returned(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """The line that such a function's wrong result comes from."""
    part = finding.evidence.get("part")
    for node in text.tree.body if text.tree and part else []:
        if isinstance(node, ast.FunctionDef) and node.name == part:
            last = [n for n in ast.walk(node) if isinstance(n, ast.Return) and n.value is not None]
            if len(last) == 1 and last[0].value is not None:
                cause = f"{part} hands back `{ast.unparse(last[0].value)}`, and that is not what the task asks of it. Functions that call {part} compute with it, so they are wrong as well."
                yield Fact("part", last[0].lineno, cause,
                           "Compare this line with what the task asks of it, part by part.")  # fmt: skip
