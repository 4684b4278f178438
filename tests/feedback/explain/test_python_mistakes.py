"""Slips in functions of Python, and what they say of them."""

from __future__ import annotations

import ast

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.attach import explained
from grader.feedback.explain.source_text import operation


@pytest.mark.parametrize(
    ("divided", "said"),
    [("n / size", "`n // size`"), ("(n + size - 1) / size", "`(n + size - 1) // size`")],
)
def test_a_division_keeps_the_brackets_of_its_sides(divided: str, said: str) -> None:
    message = "Line 2: blocks_for(33, 8) is 5.0, expected 5. As many as cover all."
    finding = Finding("blocks_for", Status.WRONG_ANSWER, message, 0, 3)
    source = f"def blocks_for(n, size):\n    return {divided}\n"
    told = explained(finding, source).evidence["explanation"]
    assert told["line"] == 2 and f"`{divided}`" in told["cause"]
    assert told["fix"] == f"Whole numbers are divided with `//`: {said}."


@pytest.mark.parametrize("text", ["a + b - c", "a - (b - c)", "(a + b) // -c", "a / (b * c)", "(a - b) * c"])
def test_an_operation_means_what_its_parts_mean(text: str) -> None:
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.BinOp)
    assert operation(node.left, node.op, node.right) == text


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("profile.export_chrome_trace(path)", "`on_trace_ready=lambda one: one.export_chrome_trace(path)`"),
        ("other.export_chrome_trace(path)", ""),
        ("lambda one: one.export_chrome_trace()", ""),
    ],
)
def test_a_method_called_on_the_class_where_a_function_is_wanted(given: str, says: str) -> None:
    source = (
        f"def record(path):\n    with profile(\n        on_trace_ready={given},\n    ) as p:\n        pass\n"
    )
    message = "TypeError: _KinetoProfile.export_chrome_trace() missing 1 required positional argument: 'path' (a.py, line 3: on)"
    found = explained(Finding("trace written", Status.RAISED, message), source).evidence.get("explanation")
    told = found if isinstance(found, dict) and found["rule"] == "called-at-once" else None
    assert (told is not None) == bool(says) and (not told or (told["line"] == 3 and says in str(told["fix"])))
