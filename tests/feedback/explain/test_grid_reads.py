"""A kernel in Python that touches what is not there: which condition is missing, or stands too late."""

from typing import Any

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import facts

HEAD = "def k(block, thread, size, n, x, out):\n    i = block * size + thread\n"
LEFT = HEAD + "    if i < n:\n        total = x[i]{}\n        out[i] = total\n"
LATE = HEAD + "    total = x[i]\n    {}\n        {}\n"


def told(
    source: str, thread: tuple[int, ...], line: int, index: int, **evidence: Any
) -> tuple[str, int, str]:
    known = {
        "on_grid": "k",
        "thread": list(thread),
        "line": line,
        "index": index,
        "array": "x",
        "size": 8,
        "n": 29,
    }
    found = facts.explained(Finding("k", Status.ILLEGAL_ACCESS, "", 0, 1, known | evidence), source)
    return (found.rule, found.line, f"{found.cause} {found.fix}") if found else ("", 0, "")


@pytest.mark.parametrize(
    ("more", "thread", "line", "index", "at", "words"),
    [
        (" + x[i - 1]", (0, 0), 4, -1, 4, "the first element has no left neighbour. Read it only where `i > 0`."),
        (" + x[i + 1]", (3, 4), 4, 29, 4, "the last element has no right neighbour. Read it only where `i < n - 1`."),
        (" + x[block * size + thread - 1]", (0, 0), 4, -1, 4, "Read it only where `block * size + thread > 0`."),
        (" + x[i - 2]", (0, 1), 4, -1, 4, "Read it only where `i >= 2`."),
        ("\n        if i >= 0:\n            total += x[i - 1]", (0, 0), 6, -1, 5, "`i >= 0` is true there"),
        ("\n        if i < n:\n            total += x[i + 1]", (3, 4), 6, 29, 5, "Ask for `i < n - 1`."),
        (" + (x[i - 1] if i >= 0 else 0)", (0, 0), 4, -1, 4, "Ask for `i > 0`."),
        ("\n        if i > 0 or i < n:\n            total += x[i - 1]", (0, 0), 6, -1, 0, ""),
    ],
)  # fmt: skip
def test_a_neighbour_that_does_not_exist(
    more: str, thread: tuple[int, ...], line: int, index: int, at: int, words: str
) -> None:
    rule, where, said = told(LEFT.format(more), thread, line, index)
    assert where == at and words in said and rule == ("no-neighbour" if at else "")


@pytest.mark.parametrize(
    ("more", "index", "words"),
    [
        (" + x[1]", 1, "it has no neighbour, and `x[1]` does not exist. Read it only where `n > 1`."),
        (" + x[n - 2]", -1, "`x[n - 2]` is x[-1], which does not exist. Read it only where `n > 1`."),
        (" + x[i + 1]", 1, "the only element has no neighbour. Read it only where `i < n - 1`."),
        (" + x[i - 1]", -1, "the only element has no neighbour. Read it only where `i > 0`."),
        (" + x[2]", 2, ""),
    ],
)  # fmt: skip
def test_one_element_in_all(more: str, index: int, words: str) -> None:
    rule, where, said = told(LEFT.format(more), (0, 0), 4, index, n=1)
    assert words in said and (rule, where) == (("no-neighbour", 4) if words else ("", 0))


@pytest.mark.parametrize(
    ("test", "then", "words"),
    [
        ("if i < n:", "out[i] = total", "before line 4 asks `i < n`, which is to keep thread 7 of block 3 out"),
        ("if i >= n:", "return\n    out[i] = total", "Move it below the `return` of line 5."),
        ("if not i < len(x):", "return\n    out[i] = total", "i is 31 there."),
        ("if i <= 40:", "out[i] = total", ""),
        ("if unknown(i):", "out[i] = total", ""),
    ],
)  # fmt: skip
def test_a_read_above_the_guard(test: str, then: str, words: str) -> None:
    rule, where, said = told(LATE.format(test, then), (3, 7), 3, 31)
    assert words in said and (rule, where) == (("before-the-guard", 3) if words else ("", 0))


@pytest.mark.parametrize(
    ("guard", "says"),
    [
        ("    if i > n:\n        return\n    out[i] = x[i]\n", "false and it does not leave. Write `if i >= n:`."),
        ("    if i <= n:\n        out[i] = x[i]\n", "true and it goes in. Write `if i < n:`."),
        ("    if i <= len(x):\n        out[i] = x[i]\n", "Write `if i < len(x):`."),
        ("    if i > n:\n        return\n    if i == 7:\n        out[i] = x[i - 1]\n", ""),
        ("    if i <= n + 1:\n        out[i] = x[i]\n", ""),
    ],
)  # fmt: skip
def test_a_guard_that_is_one_too_far(guard: str, says: str) -> None:
    line = HEAD.count("\n") + next(
        n for n, text in enumerate(guard.splitlines(), 1) if "x[i]" in text or "x[i -" in text
    )
    rule, where, said = told(HEAD + guard, (3, 5), line, 29)
    assert says in said and (rule, where) == (("guard-too-far", 3) if says else ("", 0))


@pytest.mark.parametrize(
    ("body", "at", "says"),
    [
        ("    if i >= n:\n        pass\n    out[i] = x[i]\n", 4, "`pass` does nothing: in thread 5 of block 3, i is 29 and n is 29, so `i >= n` is true, and the function goes on to line 5."),
        ("    if i >= n:\n        ...\n    out[i] = x[i]\n", 4, "write `return` in place of `...`."),
        ("    if i >= n:\n        i\n    out[i] = x[i]\n", 4, "write `return` in place of `i`."),
        ("    if i >= n:\n        print(i, n)\n    out[i] = x[i]\n", 4, "write `return` below `print(...)`."),
        ("    if i < n:\n        pass\n    out[i] = x[i]\n", 3, "Move line 5 into the `if`, in place of `pass`."),
        ("    if i < 0:\n        print(i)\n    out[i] = x[i]\n", 0, ""),
        ("    if i >= n:\n        left = 0\n    out[i] = x[i]\n", 0, ""),
        ("    if unknown(i):\n        pass\n    out[i] = x[i]\n", 0, ""),
    ],
)  # fmt: skip
def test_a_guard_that_does_nothing(body: str, at: int, says: str) -> None:
    rule, where, said = told(HEAD + body, (3, 5), 5, 29)
    assert says in said and (rule, where) == (("guard-without-return", at) if at else ("", 0))


def test_nothing_is_said_of_an_index_that_cannot_be_followed() -> None:
    source = HEAD + "    for j in range(3):\n        i = i + j\n    out[0] = x[i - 1]\n"
    assert told(source, (0, 0), 5, -1) == ("", 0, "")
    assert told(LEFT.format(" + x[i - 1]"), (0, 0), 4, -2) == ("", 0, "")  # another read of that line
    assert told("def other():\n    pass\n", (0, 0), 2, -1) == ("", 0, "")


@pytest.mark.parametrize(
    ("guard", "words"),
    [
        ("if thread >= n:\n        return\n    out[i] = x[i]", "`if i >= n:`"),
        ("if thread < len(x):\n        out[i] = x[i]", "`if i < len(x):`"),
        ("if thread >= size:\n        return\n    out[i] = x[i]", ""),
        ("if i > 40:\n        return\n    out[i] = x[i]", ""),
    ],
)
def test_a_guard_that_asks_the_number_within_the_block(guard: str, words: str) -> None:
    source = f"{HEAD}    {guard}\n"
    rule, line, said = told(source, (3, 5), 5 if "return" in guard else 4, 29)
    assert (rule, line) == (("guard-of-the-thread", 3) if words else ("", 0))
    assert words in said and ("it is 5 in thread 5 of block 3" in said) == bool(words)


@pytest.mark.parametrize(
    ("statement", "fix"),
    [("out[i] += 3 * x[i]", "Write `out[i] = 3 * x[i]`."), ("out[i] = out[i] + x[i]", "")],
)
def test_an_element_of_out_that_is_added_to(statement: str, fix: str) -> None:
    message = "Line 3: block 1, thread 0 reads out[8], and nobody has written out[8] yet. The input is x."
    finding = Finding("k", Status.UNINITIALISED, message, 0, 1, {"on_grid": "k"})
    found = facts.explained(finding, f"{HEAD}    {statement}\n")
    assert (
        (found.rule == "added-to-nothing" and found.fix == fix and found.line == 3)
        if fix
        else (found is None or found.rule != "added-to-nothing")
    )


def test_elements_of_other_threads_are_not_written_for_being_added_to() -> None:
    message = "Line 3: block 1, thread 0 reads out[8], and nobody has written out[8] yet. The input is x."
    finding = Finding("k", Status.UNINITIALISED, message, 0, 1, {"on_grid": "k"})
    found = facts.explained(finding, f"{HEAD}    out[i - 1] += x[i]\n    out[i] += x[i]\n")
    assert found and found.line == 3 and "Write `" not in found.fix
    assert found.fix.startswith("Let each thread write one element of out, once")


GRID = "def k(block, thread, size, n, x, out):\n"
OWN = "    i = block * size + thread\n"


@pytest.mark.parametrize(
    ("body", "line", "index", "stray", "at", "words"),
    [
        (OWN + "    out[i] = x[(i - 1) % n] + x[(i + 1) % n]\n", 3, 0, 28, 3, "In thread 0 of block 0, `i - 1` is -1, and `% n` wraps it round"),
        (OWN + "    out[i] = x[i] + x[(i + 1) % len(x)]\n", 3, 28, 0, 3, "`0 <= i + 1 < len(x)`."),
        (OWN + "    j = (i - 1) % n\n    r = x[(i + 1) % n]\n    out[i] = r + x[j]\n", 5, 0, 28, 3, "The same in line 4."),
        (OWN + "    out[i] = x[i] + x[(i + 1) % size]\n", 3, 7, 0, 0, ""),
        (OWN + "    out[i] = x[i] + x[(i + 5) % n]\n", 3, 0, 5, 0, ""),
    ],
)  # fmt: skip
def test_a_neighbour_that_wraps_round(
    body: str, line: int, index: int, stray: int, at: int, words: str
) -> None:
    message = f"Line {line}: out[{index}] is 1, expected 2. x[{stray}] does not belong to out[{index}]."
    known = {"on_grid": "k", "line": line, "index": index, "size": 8, "n": 29}
    found = facts.explained(Finding("k", Status.WRONG_OUTPUT, message, 0, 1, known), GRID + body)
    told = found is not None and found.rule == "wraps-round"
    assert told == bool(words)
    assert not words or (found and found.line == at and words in f"{found.cause} {found.fix}")


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        (OWN + "    for j in range(i, n, size):\n        out[j] = x[j]\n", 3, "in steps of `size`, one block,"),
        (OWN + "    for j in range(i, n):\n        out[j] = x[j]\n", 3, "in steps of `1`"),
        (OWN + "    while i < n:\n        out[i] = x[i]\n        i += size\n", 3, "which belongs to thread 2 of block 1"),
        (OWN + "    for j in range(3):\n        out[i] = x[i]\n", 0, ""),
        (OWN + "    out[thread] = x[i]\n", 0, ""),
    ],
)  # fmt: skip
def test_a_thread_that_loops_past_its_own_element(body: str, line: int, words: str) -> None:
    at = 1 + next(n for n, text in enumerate(body.splitlines(), 1) if "out[" in text)
    known = {"on_grid": "k", "threads": [[1, 2], [0, 2]], "line": at, "index": 10, "size": 8, "n": 29}
    found = facts.explained(Finding("k", Status.RACE, "", 0, 1, known), GRID + body)
    assert (found is not None and found.rule == "loops-past-its-own") == bool(words)
    assert not words or (found and found.line == line and words in found.cause and "barrier" not in found.fix)
