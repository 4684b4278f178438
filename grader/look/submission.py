"""The whole look: marks that were left, what the Python says, what the CUDA C++ in its strings says."""

from __future__ import annotations

import ast
from dataclasses import replace

from grader.look import cuda, python
from grader.look.advice import Advice
from grader.submission import Submission
from grader.task import Task

MOST = 16 << 10  # characters of C++ that are read: a look must not take longer than a student notices


def look(submission: Submission, task: Task) -> list[Advice]:
    """Advice in order of lines. Reads text only; never raises for a strange file."""
    advice = _todos(submission.source)
    try:
        tree = ast.parse(submission.source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return advice
    left, beside = MOST, python.attributes(tree)
    advice += python.look(tree, task)
    for text in python.cuda_sources(tree):
        advice += cuda.look(replace(text, source=text.source[: max(0, left)]), beside)
        left -= len(text.source)
    return sorted(set(advice), key=lambda a: a.line)


def _todos(source: str) -> list[Advice]:
    """Marks of what is still to be done; the first one is quoted, as what to do next."""
    marks = [
        (number, line[line.index("TODO") :].strip())
        for number, line in enumerate(source.splitlines(), 1)
        if "TODO" in line and "starter:" not in line  # a solution keeps its starter's lines as comments
    ]
    first = [Advice(n, f"A TODO is still here. Do this first: {text[:150]}") for n, text in marks[:1]]
    return first + [Advice(n, "A TODO is still here.") for n, _ in marks[1:]]
