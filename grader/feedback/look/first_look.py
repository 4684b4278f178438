"""The whole look: marks that were left, what the Python says, what the CUDA C++ in its strings says."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.backends.simt.compile.tokens import tokenize
from grader.domain import python_text
from grader.feedback.look import cuda_source, python_source
from grader.feedback.look.advice import Advice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.domain.submission import Submission
    from grader.domain.task import Task

MAX_CHARACTERS = 16 << 10  # of C++ that are read: a look must be over before a student notices


def look(submission: Submission, task: Task, starter: str = "") -> list[Advice]:
    """Advice in order of lines. Reads text only; never raises for a strange file.

    ``starter``: the text that the student began with, which tells whether something was done about a TODO,
    and which kernels get whole blocks of elements.
    """
    advice = _todos(submission.source, starter)
    try:
        tree = python_text.parse(submission.source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return advice
    left, beside = MAX_CHARACTERS, python_source.attributes(tree)
    advice += python_source.look(tree, task)
    checked = set[str]()
    for host in python_source.cpp_sources(tree):
        checked |= cuda_source.words_that_check(replace(host, source=host.source[:MAX_CHARACTERS]))
    for text in python_source.cuda_sources(tree):
        advice += cuda_source.look(
            replace(text, source=text.source[: max(0, left)]),
            beside,
            _whole(starter),
            frozenset(checked),
            on_gpu=not task.starter_fails,
        )
        left -= len(text.source)
    return sorted(set(advice), key=lambda a: a.line)


def launches(source: str) -> list[int]:
    """The lines of a submission's launches; one that has several as often as that."""
    return _lines(source, cuda_source.launches)


def launches_on_default_stream(source: str) -> list[int]:
    """The lines of a submission's launches that name no stream, or the default one."""
    return sorted(set(_lines(source, cuda_source.launches_on_default_stream)))


def _lines(source: str, found: Callable[[python_source.CudaText], Iterator[int]]) -> list[int]:
    """The lines that are found in a submission's CUDA C++."""
    try:
        tree = python_text.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    texts = python_source.cuda_sources(tree)
    short = (replace(text, source=text.source[:MAX_CHARACTERS]) for text in texts)
    return sorted(line for text in short for line in found(text))


def words_of_kernels(source: str) -> set[str]:
    """The words of a submission's CUDA C++; those of comments and of strings in it are none."""
    try:
        texts = list(python_source.cuda_sources(python_text.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    return {token.text for text in texts for token in tokenize(text.source) if token.kind == "id"}


def _todos(source: str, starter: str) -> list[Advice]:
    """The first mark of what is still to be done, as what to do next.

    A mark whose next line of code is no longer that of the starter was worked on: only its comment is left.
    """
    lines, untouched = source.splitlines(), _after(starter.splitlines())
    after = _after(lines)
    marks = [
        (number, line[line.index("TODO") :].strip())
        for number, line in enumerate(lines, 1)
        if "TODO" in line and "starter:" not in line  # a solution keeps its starter's lines as comments
        and not re.search(r"TODO \d+: open end", line)  # which is never done, and so never comes first
        and after[line.strip()] == untouched.get(line.strip(), after[line.strip()])
    ]  # fmt: skip
    more = f" ({len(marks) - 1} more below.)" if len(marks) > 1 else ""
    return [Advice(n, f"A TODO is still here. Do this first: {text[:150]}{more}") for n, text in marks[:1]]


def _whole(starter: str) -> frozenset[str]:
    """The kernels of which the starter says that n is a multiple of the block: each thread has an element."""
    heads = (line.partition("//") for line in starter.splitlines() if "__global__" in line)
    named = (
        re.search(r"(\w+)\s*\(", head)
        for head, _, said in heads
        if re.search(r"\bn is a multiple of\b", said)
    )
    return frozenset(name[1] for name in named if name)


def _after(lines: list[str]) -> dict[str, str]:
    """What follows each line: the next one of code, and where that is a head, what it begins with."""
    found: dict[str, str] = {}
    code = below = ""
    for line in reversed(lines):
        text = line.strip()
        found[text] = f"{text if 'TODO' in text and not text.startswith(('#', '//')) else ''}{code}"
        if text and not text.startswith(("#", "//")):
            code, below = f"{text} {below}" if text.endswith(("{", ":")) else text, text
    return found
