"""Alternatives of Python: each is one small change that leaves a file that parses."""

import ast

import pytest

from grader.domain import lessons
from grader.feedback.explain.python_alternatives import alternatives

FILE = """import torch

first, second = torch.load("a")


def neighbours(x, out, n, i):
    if i > 0:
        out[i] = x[i - 1]
    elif i < n:
        out[i] == x[i] * 2
    return out.copy


def mean(values):
    total = 0.0
    for value in values:
        total += value
        return total / len(values)


def near(out, best, k):
    rest = out / (best + k) + abs(k)
    return max(abs(out - best), 0) + round(k - 1) - (out + k) / best
"""
MENDED = {
    "a relation": ("if i > 0", "if i >= 0"),
    "one branch or the other": ("    elif i < n", "    if i < n"),
    "compared, not assigned": ("out[i] == x[i] * 2", "out[i] = x[i] * 2"),
    "an operator": ("x[i] * 2", "x[i] / 2"),
    "a number": ("x[i - 1]", "x[i - 2]"),
    "a name": ("if i > 0", "if n > 0"),
    "a call": ("return out.copy", "return out.copy()"),
    "a pair": ("first, second = ", "second, first = "),
    "a column": ("        return total / len", "    return total / len"),
    "an assignment": ("total += value", "total = value"),
    "a function around a sum": ("abs(out - best)", "(out - best)"),
    "a function around a name": ("abs(k)", "k"),
    "a maximum with 0": ("max(abs(out - best), 0)", "abs(out - best)"),
    "a bracket closed too late": ("out / (best + k)", "out / best + k"),
    "a bracket opened too early": ("(out + k) / best", "out + k / best"),
    "a bracket of a call closed too late": ("round(k - 1)", "round(k) - 1"),
    "a line": ("        total += value\n", "        pass\n"),
}


@pytest.mark.parametrize("name", MENDED)
def test_a_usual_slip_is_among_them(name: str) -> None:
    before, after = MENDED[name]
    assert FILE.replace(before, after, 1) in {one.change.apply(FILE) for one in alternatives(FILE, set())}


def test_those_of_the_function_that_failed_come_first() -> None:
    found = alternatives(FILE, {17})
    inside = [one.function[0] <= 17 <= one.function[1] for one in found]
    assert inside[0] and not inside[-1] and inside == sorted(inside, reverse=True)


def test_columns_are_counted_in_characters() -> None:
    text = 'def f(a, b):\n    return "ü" * 2 + a < b\n'
    assert text.replace("<", "<=") in {one.change.apply(text) for one in alternatives(text, set())}


@pytest.mark.parametrize("lesson", lessons.every(), ids=lambda lesson: lesson.number)
def test_each_alternative_of_a_solution_is_a_file_that_parses_and_differs(lesson: lessons.Lesson) -> None:
    text = lesson.solution.read_text("utf-8")
    for one in alternatives(text, set()):
        changed = one.change.apply(text)
        assert changed != text
        ast.parse(changed)


def test_a_file_that_does_not_parse_has_none() -> None:
    assert alternatives("def f(:", set()) == []
