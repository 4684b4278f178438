"""Kernels in Python that compute something else: the edge of a block for that of the array, a name for an element."""

from __future__ import annotations

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import facts

HEAD = "def k(block, thread, size, n, x, out):\n    i = block * size + thread\n    if i < n:\n        total = x[i]\n"
BODY = HEAD + "        if {}:\n            total += x[{}]\n        out[i] = total\n"
LOST = "out[{}] is 1, expected 2. x[{}] would have to be read for out[{}] as well."


def told(source: str, status: Status, message: str) -> tuple[str, int, str]:
    finding = Finding("k", status, message, evidence={"on_grid": "k", "size": 8, "n": 29, "known": False})
    found = facts.explained(finding, source)
    return (found.rule, found.line, f"{found.cause} {found.fix}") if found else ("", 0, "")


@pytest.mark.parametrize(
    ("test", "own", "lost", "words"),
    [
        ("thread > 0", 8, 7, "Ask for the element: `i > 0`."),
        ("thread", 16, 15, "Ask for the element: `i > 0`."),
        ("thread != 0 and i < n", 8, 7, "`thread != 0` is false in the first thread of each block"),
        ("thread < size - 1", 7, 8, "Ask for the element: `i < n - 1`."),
        ("thread + 1 < size", 15, 16, "block 1 has a neighbour for it as well, element 16."),
        ("thread > 0", 9, 8, ""),
        ("i > 1", 8, 7, ""),
    ],
)
def test_the_edge_of_a_block_is_not_that_of_the_array(test: str, own: int, lost: int, words: str) -> None:
    source = BODY.format(test, "i - 1" if lost < own else "i + 1")
    rule, line, said = told(source, Status.WRONG_OUTPUT, LOST.format(own, lost, own))
    assert (rule == "edge-of-the-block") == bool(words), rule
    assert words in said and (line == 5 or not words)


def test_a_name_that_gets_another_value_is_no_element_that_is_stored() -> None:
    source = "def k(block, thread, size, n, x, out):\n    i = block * size + thread\n    out = 2 * x[i]\n"
    message = "no thread wrote out[0] of 24 elements: k writes nothing into out."
    rule, line, said = told(source, Status.UNINITIALISED, message)
    assert (rule, line) == ("out-renamed", 3) and "`out[i] = 2 * x[i]`" in said
    assert told(source.replace("out = 2", "result = 2"), Status.UNINITIALISED, message)[0] != "out-renamed"
