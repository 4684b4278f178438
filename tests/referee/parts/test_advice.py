"""What a part says of a wrong answer: of the cause no more than is certain, and nothing twice."""

import math
import re
from pathlib import Path

import pytest

from grader.domain.lessons import find
from grader.domain.verdict import Finding, Status
from grader.referee.parts.answers import PlainCalls
from grader.referee.parts.grid_kernels import Launch, OnGrid
from tests.referee.parts.asking import grade

TIMES = PlainCalls(
    "times", "mine", (("a",), ("b",)), {"a": [1], "b": [2]}.get, 1, "Why.", because="It is {}.".format
)
SCALE = OnGrid("scale", "mine", 11, 0, lambda x: [2 * v for v in x], 3, "Own element.")
BLOCKS = OnGrid("blocks", "mine", 24, 8, lambda x: [2 * v for v in x], 3, "Full blocks.")
HEAD = "def mine(block, thread, size, n, x, out):\n"


def failure(folder: Path, text: str, *parts: object) -> Finding:
    return next(f for f in grade(folder, text, *parts).findings if f.max_points and not f.ok)  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_reason_is_that_of_the_arguments_and_the_line_that_of_the_branch(tmp_path: Path) -> None:
    text = 'def mine(key):\n    if key in ("a", "b"):\n        return [1]\n    return [3]\n'
    found = failure(tmp_path, text, TIMES)
    assert found.message == "Line 2: mine('b') is [1], expected [2]. It is b."
    added = 'def mine(key):\n    total = []\n    if key == "a":\n        total += [1]\n    return total\n'
    assert failure(tmp_path, added, TIMES).message.startswith("Line 5: mine('b')")


@pytest.mark.slow
def test_the_line_is_that_of_the_return_that_was_taken(tmp_path: Path) -> None:
    half = PlainCalls("half", "mine", ((2,), (7,)), lambda n: n // 2, 1, "Why.")
    text = (
        "def mine(n):\n    if n < 5:\n        return n // 2\n    if n > 6:\n        return n\n    return 0\n"
    )
    assert failure(tmp_path, text, half).message.startswith("Line 5: mine(7) is 7, expected 3.")
    one = "def other(n):\n    return n\n\n\nmine = other\n"
    assert failure(tmp_path, one, half).message.startswith("Line 5: mine(2) is 2, expected 1.")


@pytest.mark.slow
def test_what_the_explanation_says_is_not_said_again(tmp_path: Path) -> None:
    found = failure(tmp_path, "def mine(i, x, out):\n    return 2 * x[i]\n", SCALE)
    assert found.evidence["explanation"]["rule"] == "value-of-a-kernel"
    assert "A kernel returns nothing" not in found.message
    loop = failure(
        tmp_path, "def mine(i, x, out):\n    for i in range(len(x)):\n        out[i] = 2 * x[i]\n", SCALE
    )
    assert loop.evidence["explanation"]["line"] == 2
    assert "Is there a loop" not in loop.message


@pytest.mark.slow
def test_an_element_that_nobody_wrote_has_a_number_and_a_guard(tmp_path: Path) -> None:
    rest = "    if j >= n:\n        return\n    out[j] = 2 * x[j]\n"
    found = failure(tmp_path, f"{HEAD}    j = block * n + thread\n{rest}", BLOCKS)
    assert "gives 24 in thread 0 of block 1, and must come out as 8" in found.evidence["explanation"]["cause"]
    assert "guard" not in found.message and ".  " not in found.message
    # A number that cannot be followed.
    found = failure(tmp_path, f"{HEAD}    j = [block * n + thread][0]\n{rest}", BLOCKS)
    assert (
        "Its number in the grid must come out as 8, and the guard `j >= n` must let it through"
        in found.message
    )
    assert " is 8," not in found.message


@pytest.mark.slow
def test_a_name_of_the_grader_is_not_shown(tmp_path: Path) -> None:
    text = "def benchmark(build, make_input, make_output):\n    build(1, 2)\n"
    part = next(p for p in find("04").task.parts if p.name == "cold cache")
    found = failure(tmp_path, text, part)
    assert found.status is Status.RAISED
    assert found.message.startswith("TypeError: build() takes 0")


@pytest.mark.slow
def test_a_factor_is_not_taken_for_a_number_of_calls_where_some_are_slow(tmp_path: Path) -> None:
    lesson = find("04")
    text = lesson.solution.read_text().replace("for _ in range(10):", "for _ in range(5):")
    part = next(p for p in lesson.task.parts if p.name == "first calls")
    found = failure(tmp_path, text.replace("range(100)", "range(40)"), part)
    assert found.evidence["advice"] == f" {part.why}"
    assert "calls?" not in found.message


@pytest.mark.slow
def test_a_text_where_a_list_is_asked_for_is_called_so(tmp_path: Path) -> None:
    files = PlainCalls("files", "mine", (("a",),), {"a": ["one.cpp"]}.get, 1, "Why.")
    found = failure(tmp_path, 'def mine(key):\n    return "one.cpp"\n', files)
    assert found.message == "Line 2: mine('a') is 'one.cpp', expected ['one.cpp']. Why."
    told = found.evidence["explanation"]
    assert told["cause"].startswith("That is a text, and what is asked for is a list")
    assert (told["line"], told["fix"]) == (2, 'Write `return ["one.cpp"]`.')
    branch = 'def mine(key):\n    if key in ("a", "b"):\n        return "one.cpp"\n    return []\n'
    found = failure(tmp_path, branch, files)
    assert found.message.startswith("Line 3: mine('a')") and found.evidence["explanation"]["line"] == 3
    numbered = PlainCalls("number", "mine", ((1,),), lambda n: n, 1, "Why.")
    found = failure(tmp_path, "def mine(n):\n    return str(n)\n", numbered)
    assert "is '1', expected 1. That is not a number" in found.message


@pytest.mark.slow
def test_a_guard_is_asked_for_only_where_the_thread_has_no_element(tmp_path: Path) -> None:
    ragged = OnGrid("ragged", "mine", 21, 8, lambda x: [2 * v for v in x], 3, "Three more.")
    text = f"{HEAD}    j = [block * size + thread][0]\n    out[j] = 2 * x[j{{}}]\n"
    assert "A guard must keep a thread without" in failure(tmp_path, text.format(""), ragged).message
    found = failure(tmp_path, text.format(" - 1"), BLOCKS).message
    assert "guard" not in found and "The element of its own is x[0]." in found


@pytest.mark.slow
def test_a_loop_that_ends_is_judged_by_what_it_does_and_one_without_an_end_by_that(tmp_path: Path) -> None:
    every = "def mine(i, x, out):\n    for i in range(len(x)):\n        out[i] = 2 * x[i]\n"
    assert failure(tmp_path, every, SCALE).status is Status.RACE
    inputs = "def mine(i, x, out):\n    if i:\n        out[i] = x[i - 1]\n    x[i] = 1.0\n"
    found = failure(tmp_path, inputs, SCALE)
    assert re.match(
        r"Line 4: thread \d+ writes x\[\d+\], and thread \d+ reads it in line 3\. ", found.message
    )
    endless = "def mine(i, x, out):\n    while True:\n        out[i] = 2 * x[i]\n"
    found = failure(tmp_path, endless, SCALE)
    assert found.status is Status.TIMEOUT and "Does its loop end?" in found.message
    assert "far more elements" not in found.message


@pytest.mark.slow
def test_a_thread_that_writes_another_ones_element_is_named(tmp_path: Path) -> None:
    all_by_one = (
        "    if block == 0 and thread == 0:\n        for k in range(n):\n            out[k] = 2 * x[k]\n"
    )
    found = failure(tmp_path, HEAD + all_by_one, BLOCKS)
    assert found.status is Status.WRONG_ANSWER and not found.points
    assert "block 0, thread 0 writes out[1], and its own element is out[0]" in found.message
    free = (
        "DONE = []\n\n\ndef mine(i, x, out):\n    k = len(DONE)\n    DONE.append(i)\n    out[k] = 2 * x[k]\n"
    )
    assert "and its own element is out[" in failure(tmp_path, free, SCALE).message
    others = (
        HEAD + "    i = block * size + thread\n    if i < n:\n        out[n - 1 - i] = 2 * x[n - 1 - i]\n"
    )
    assert failure(tmp_path, others, BLOCKS).status is Status.WRONG_ANSWER
    own = HEAD + "    i = block * size + thread\n    if i < n:\n        out[i] = 2 * x[i]\n"
    assert all(f.ok for f in grade(tmp_path, own, BLOCKS).findings)


@pytest.mark.slow
def test_a_kernel_that_changes_its_input(tmp_path: Path) -> None:
    found = failure(tmp_path, "def mine(i, x, out):\n    x[i] *= 2\n    out[i] = x[i]\n", SCALE)
    assert (found.status, found.evidence["line"]) == (Status.MUTATED_INPUT, 2)
    assert re.search(
        r"Line 2: thread \d+ writes x\[0\], and x is the input: it must stay as it was", found.message
    )
    same = "def mine(i, x, out):\n    x[i] = x[i]\n    out[i] = 2 * x[i]\n"
    assert all(f.ok for f in grade(tmp_path, same, SCALE).findings)


@pytest.mark.slow
def test_further_launches_of_a_check_are_judged_and_say_how_they_differ(tmp_path: Path) -> None:
    def with_launches(*others: Launch) -> OnGrid:
        return OnGrid("ragged", "mine", 16, 8, lambda x: [2 * v for v in x], 3, "Three more.", others=others)

    own = f"{HEAD}    i = block * size + thread\n"
    right = f"{own}    if i < n:\n        out[i] = 2 * x[i]\n"
    special = Launch(4, 2, (math.inf, -0.0, math.nan, 1e-7))
    assert grade(tmp_path, right, with_launches(Launch(12, 6), Launch(5, 2, surplus=3), special)).ok
    bits = f"{HEAD}    i = block * size | thread\n    if i < n:\n        out[i] = 2 * x[i]\n"
    found = failure(tmp_path, bits, with_launches(Launch(12, 6)))
    assert found.status is Status.RACE
    assert found.message.endswith("This was another launch, with n = 12 and 2 blocks of 6 threads.")
    last = f"{own}    if block < (n - 1) // size or i < n:\n        out[i] = 2 * x[i]\n"
    assert grade(tmp_path, last, with_launches(Launch(12, 6))).ok
    last = last.replace("block <", "block !=")
    found = failure(tmp_path, last, with_launches(Launch(5, 2, surplus=3)))
    assert found.status is Status.ILLEGAL_ACCESS and "of which 3 more than it takes" in found.message
    # An infinity less itself is NaN, and so is what was expected nowhere; no false word of what was read.
    lost = f"{own}    if i < n:\n        out[i] = 2 * x[i] + 0 * x[i]\n"
    found = failure(tmp_path, lost, with_launches(special))
    assert "is nan, expected inf" in found.message and "does not belong" not in found.message


@pytest.mark.slow
def test_a_thread_without_an_element_does_not_read_either(tmp_path: Path) -> None:
    ragged = OnGrid("ragged", "mine", 21, 8, lambda x: [2 * v for v in x], 3, "Three more.")
    own = f"{HEAD}    i = block * size + thread\n"
    text = f"{own}    v = x[min(i, n - 1)]\n    if i < n:\n        out[i] = 2 * v\n"
    found = failure(tmp_path, text, ragged)
    assert found.message.startswith("Line 3: block 2, thread ") and "its number is 2" in found.message
    assert found.evidence["line"] == 3
