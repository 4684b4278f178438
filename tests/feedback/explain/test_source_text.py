"""A submission's text, read once for all who ask for its parts."""

from __future__ import annotations

import ast

import pytest

from grader.feedback.explain.source_text import read, segment

TEXT = 'naïve = "µs"; f(naïve, [1,\n  2])\nif naïve: g("é", h(x)) ; y = x.é\n'


@pytest.mark.parametrize("source", [TEXT, TEXT.replace("\n", "\r\n"), TEXT.replace("if", "\f\nif")])
def test_a_part_is_the_text_that_python_itself_gives(source: str) -> None:
    nodes = read(source).nodes
    assert len(nodes) > 20
    for node in nodes:
        assert segment(source, node) == ast.get_source_segment(source, node)


def test_without_python_there_are_no_nodes() -> None:
    assert read("def f(:").nodes == ()
