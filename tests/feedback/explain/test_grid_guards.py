"""Kernels in Python whose threads do not write: the condition that stops one, followed with its numbers."""

from typing import Any

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach, facts
from grader.player.commands.grid_run import Remote

HEAD = "def k(block, thread, size, n, x, out):\n    i = block * size + thread\n"


def told(
    source: str, status: Status = Status.UNINITIALISED, message: str = "", **evidence: Any
) -> tuple[int, str]:
    known = {"on_grid": "k", "index": 0, "size": 8, "n": 24} | evidence
    found = facts.explained(Finding("k", status, message, 0, 1, known), source)
    return (found.line, f"{found.cause} {found.fix}") if found else (0, "")


@pytest.mark.parametrize(
    ("body", "index", "line", "words"),
    [
        ("    if 0 < i < n - 1:\n        out[i] = x[i - 1] + x[i] + x[i + 1]\n", 0, 3,
         "i is 0 and n is 24, so `0 < i < n - 1` is false and it writes nothing, though out[0]"),
        ("    if i > 0 and not i == n - 1:\n        out[i] = x[i - 1]\n", 23, 3, "i is 23 and n is 24"),
        ("    if i < n - 1:\n        out[i] = x[i] + x[i + 1]\n", 23, 3, "ask for `i < n`, and guard the read of each neighbour"),
        ("    if i < size:\n        out[i] = x[i]\n", 8, 3, "i is 8 and size is 8, so `i < size` is false"),
        ("    if i < len(x) - 1:\n        out[i] = x[i]\n", 23, 3, "ask for `i < n`."),
        ("    if i < 1 or i >= n - 1:\n        return\n    out[i] = x[i - 1]\n", 0, 3, "may leave: `i >= n`."),
        ("    last = n - 1\n    if i >= last:\n        return\n    out[i] = x[i]\n", 23, 4, "may leave: `i >= n`."),
        ("    if i == 0:\n        out[i] = x[i]\n    elif i < n - 1:\n        out[i] = x[i - 1]\n", 23, 5,
         "so `i == 0` and `i < n - 1` are false"),
        ("    if i < n:\n        if min(i, n - 1 - i) > 0:\n            out[i] = x[i]\n", 0, 4, "is false"),
    ],
)  # fmt: skip
def test_the_condition_that_keeps_a_thread_with_an_element_out(
    body: str, index: int, line: int, words: str
) -> None:
    where, said = told(HEAD + body, index=index)
    assert where == line and words in said


def test_a_number_that_is_wrong_itself_comes_before_the_guard() -> None:
    source = HEAD.replace("size + thread", "n + thread") + "    if i < n:\n        out[i] = x[i]\n"
    where, said = told(source, index=8)
    assert (
        where == 2 and "`block * n + thread` gives 24 in thread 0 of block 1, and must come out as 8" in said
    )


def test_a_kernel_of_one_index() -> None:
    where, said = told("def k(i, x, out):\n    if i > 0:\n        out[i] = x[i]\n", size=0)
    assert (
        where == 2 and "In thread 0, i is 0, so `i > 0` is false" in said and "none is to be kept out" in said
    )


@pytest.mark.parametrize(
    "body",
    [
        "    if x[i] > 0:\n        out[i] = x[i]\n",  # rests on a value
        "    if i < n:\n        out[i + 1] = x[i]\n",  # writes, though elsewhere
        "    for j in range(i, i):\n        out[j] = x[j]\n",
        "    if i % 0:\n        out[i] = x[i]\n",
        "    if i < n - 1:\n        store(out, i, x[i])\n    else:\n        store(out, i, 0)\n",
        "    j = other(i)\n    if j < n:\n        out[j] = x[i]\n",
        "    if i < 2 ** 70:\n        out[i] = x[i]\n",
    ],
)
def test_nothing_is_said_where_the_way_is_not_known(body: str) -> None:
    assert told(HEAD + body) == (0, "")


def test_the_hint_about_the_number_is_not_given_where_the_guard_is_the_cause() -> None:
    advice = " A thread's number in the grid is block * size + thread."
    message = f"Line 2: no thread wrote out[0] of 24 elements.{advice} Why."
    known = {"on_grid": "k", "index": 0, "size": 8, "n": 24, "advice": advice}
    source = HEAD + "    if 0 < i < n:\n        out[i] = x[i]\n"
    shown = attach.explained(Finding("k", Status.UNINITIALISED, message, 0, 1, known), source).message
    assert shown == "No thread wrote out[0] of 24 elements. Why."


def refused(name: str, index: object) -> str:
    remote = Remote(None, name, 8)  # type: ignore[arg-type]
    with pytest.raises(TypeError) as caught:
        remote[index]  # type: ignore[index]
    return f"TypeError: {caught.value} (s.py, line 4: ...)"


@pytest.mark.parametrize(
    ("statement", "index", "words"),
    [
        ("out[i] = sum(x[i - 1 : i + 2])", slice(0, 2), "as `x[i - 1]`, `x[i]`, `x[i + 1]`, and ask first"),
        ("out[i] = sum(x[max(i - 1, 0) : min(i + 2, n)])", slice(0, 2), "as `x[i - 1]`, `x[i]`, `x[i + 1]`, and"),
        ("out[i] = max(x[:i])", slice(0, 2), "as `x[i]`, and ask first"),
        ("out[i : i + 1] = [2 * x[i]]", slice(0, 2), "as `out[i]`, and ask first"),
        ("out[i] = x[i / 2]", 1.5, "Write `i // 2`."),
    ],
)  # fmt: skip
def test_an_index_that_is_none(statement: str, index: object, words: str) -> None:
    source = f"{HEAD}    if i < n:\n        {statement}\n"
    where, said = told(source, Status.RAISED, refused("x", index))
    assert where == 4 and words in said


def test_what_is_refused_is_said() -> None:
    assert "x[...:...] is a slice" in refused("x", slice(1, 2))
    assert "here the index is a float" in refused("x", 2.0)
    assert "here the index is None" in refused("x", None)


@pytest.mark.parametrize("status", [Status.TIMEOUT, Status.ILLEGAL_ACCESS])
def test_a_kernel_that_goes_through_all_of_its_input(status: Status) -> None:
    source = f"{HEAD}    if i < n:\n        out[i] = sum(x)\n"
    where, said = told(source, status, "Line 4: a thread touches far more elements than its own.")
    assert where == 4 and "`sum(x)` goes through all elements of x" in said and "`x[i]`" in said
    source = f"{HEAD}    for v in x:\n        out[i] = v\n"
    assert told(source, status, "Line 3: a thread reads x[8].")[0] == 3
    assert told(source, status, "Line 4: a thread reads x[8].") == (0, "")
