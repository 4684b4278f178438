"""What Python reads otherwise than C++, parts of sums in branches, blocks and the grid, failures that are caught."""

import time
from typing import Any

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import block_slips, branch_slips, caught_failures, python_habits
from grader.feedback.explain.source_text import read

KERNEL = '''code = r"""
__global__ void k(const float* x, float* out, int, int n) {{
    __shared__ float tile[SIZE];
    const int t = threadIdx.x, i = me(), first = i - t;
    {}
}}
"""
'''
NEVER = "6 of 192 elements of Float[192] were never written, the first is element 0."
COPY = "Wrong: the result is a copy of input 0."
LAST = "Wrong: every element from flat index 64 on, the last 128 of 192."
FEW = "Wrong: 4 of 192 elements, scattered."


def told(source: str, message: str = "", status: Status = Status.WRONG_OUTPUT, **seen: Any) -> str:
    """The rule and the words of the first fact; "" if nothing is known."""
    finding = Finding("a case", status, message, evidence={"seen": [seen]} if seen else {})
    text = read(source)
    for module in (python_habits, branch_slips, block_slips, caught_failures):
        for find, statuses in module.FACTS:
            for fact in find(text, finding) if status in statuses else ():
                return f"{fact.rule} {fact.cause} {fact.fix}"
    return ""


@pytest.mark.parametrize(
    ("body", "message", "words"),
    [
        ("if (0 < t < SIZE - 1) out[i] = tile[t];", "", "`0 < t && t < SIZE - 1`"),
        ("out[i] = n > i >= 0 ? x[i] : 0;", "", "`(n > i) >= 0`"),
        ("if (0 < t && t < SIZE - 1) out[i] = tile[t];", "", ""),
        ("if (static_cast<int>(x[i]) > 0) out[i] = f<0 < 1>(t);", "", ""),
        ("k<<<n, t>>>(x); out[i] = t << 2 > n;", "", ""),
        ("out[i] = x[i] ^ 2;", "", "`x[i] * x[i]`"),
        ("out[i] = tile[t ^ 2];", "", ""),
        ("out[i] = x[i] ^ 25;", "", ""),
        ("if (t > 0) s += tile[t - 1]; else if (t + 1 < SIZE) s += tile[t + 1];", "", "one-of-two"),
        ("if (t < 32) s += tile[t]; else if (t < 48) s += tile[t + 1];", "", ""),
        ("if (t > 0) s += tile[t - 1]; else if (i < n) s += tile[t + 1];", "", ""),
        ("s = tile[t]; if (t > 0) s = tile[t - 1]; if (t + 1 < n) s += tile[t + 1];", "", "`s += tile[t - 1];`"),
        ("s = tile[t]; if (t > 0) s = s + tile[t - 1]; if (t + 1 < n) s += tile[t + 1];", "", ""),
        ("s = 0; if (t > 0) s = tile[t - 1]; if (t + 1 < n) s += tile[t + 1];", "", ""),
        ("s = tile[t]; if (t > 0) s = tile[t - 1]; else s = x[i]; s += tile[t];", "", ""),
        ("s = tile[t]; if (t > 0) s = tile[t - 1]; out[i] = s;", "", ""),
        ("if (t > 0 && t < SIZE - 1) out[i] = tile[t];", NEVER, "`(t > 0 ? ... : 0)`"),
        ("if (t > 0 && t < SIZE - 1) out[i] = tile[t];", "", ""),
        ("if (i < n) out[i] = tile[t];", NEVER, ""),
        ("if (t > 0) out[i] = tile[t]; else out[i] = 0;", NEVER, ""),
        ("if (t > 0) out[i] = tile[t]; if (t < 1) out[i] = 0;", NEVER, ""),
        ("tile[t] = x[t];", LAST, "`x[i]`"),
        ("tile[t] = x[t];", FEW, ""),
        ("x += first; tile[t] = x[t];", LAST, ""),
        ("for (int j = 0; j < n; ++j) tile[t] = x[t];", LAST, ""),
        ("int count = 3; out[n - 1 - i] = tile[t];", "", "whole-turned"),
        ("out[n - 1 - i] = tile[t];", "", ""),
        ("tile[n - t] = x[i]; out[i] = tile[n - t];", COPY, "own-place-again"),
        ("tile[t] = x[i]; out[i] = tile[n - t];", COPY, ""),
        ("out[i] = tile[t] + tile[t] + 1;", "", "`tile[t + 1]`"),
        ("out[i] = tile[t] + tile[t] + 1.5f;", "", ""),
        ("out[i] = tile[t] + 1;", "", ""),
        ("if (t == 0) tile[0] = x[i - 1]; if (t == 63) tile[65] = x[i + 1];", FEW, "of-another-block"),
        ("if (t == 0) tile[0] = x[i - 1]; if (t == 63) tile[65] = x[i + 1];", COPY, ""),
        ("if (t == 63) tile[65] = x[i + 1];", FEW, ""),
        ("float last; if (t == 3) last = x[i]; __syncthreads(); out[i] = last;", "", "has a last of its own"),
        ("__shared__ float last; if (t == 3) last = x[i]; __syncthreads(); out[i] = last;", "", ""),
        ("float last; last = x[i]; __syncthreads(); out[i] = last;", "", ""),
        ("float v; if (t == 3) v = x[i]; tile[t] = v; __syncthreads(); out[i] = tile[0] + v;", "", ""),
        ("float v; if (t == 3) v = x[i]; else v = 1; __syncthreads(); out[i] = v;", "", ""),
    ],
)  # fmt: skip
def test_a_slip_is_told_with_its_reason(body: str, message: str, words: str) -> None:
    said = told(KERNEL.format(body), message)
    assert words in said if words else said == ""


def test_an_index_from_behind_is_python_s() -> None:
    below: dict[str, Any] = {
        "line": 5,
        "kind": "out-of-bounds",
        "what": "reads element -64 of tile (256 bytes of shared memory), 256 bytes before it",
    }
    for body, words in (
        ("int count = 3; out[i] = tile[-t - 1];", "`tile[count - t - 1]`"),
        ("out[i] = tile[-1];", "`tile[SIZE - 1]`"),
        ("out[i] = tile[t - 1];", ""),
        ("out[i] = tile[n + -t];", ""),
    ):
        said = told(KERNEL.format(body), "", Status.ILLEGAL_ACCESS, **below)
        assert words in said if words else said == ""


def test_every_block_that_stores_where_the_first_does_is_told_why() -> None:
    race: dict[str, Any] = {"line": 5, "kind": "global-race", "what": "writes element 63 of out"}
    assert "`out[i]`" in told(KERNEL.format("out[t] = tile[t];"), "", Status.RACE, **race)
    assert told(KERNEL.format("out[i / 2] = tile[t];"), "", Status.RACE, **race) == ""


TEST = """def test(kernel, name):
    for x in INPUTS:
        try:
            {}
        except {}:
            {}
"""
PASSES = "It passes on a kernel that gives results that are 1 too small."


@pytest.mark.parametrize(
    ("pieces", "message", "words"),
    [
        (("assert kernel(x)", "Exception as error", "print(error)"), PASSES, "`except Exception as error`"),
        (("assert kernel(x)", "(ValueError, AssertionError)", "pass"), PASSES, "caught-failure"),
        (("assert kernel(x)", "Exception as error", "raise"), PASSES, ""),
        (("assert kernel(x)", "RuntimeError", "pass"), PASSES, ""),
        (("kernel(x)", "Exception", "pass"), PASSES, ""),
        (("assert kernel(x)", "Exception", "pass"), "The test fails on a right kernel", ""),
    ],
)
def test_a_test_that_catches_its_failure_is_named(pieces: tuple[str, ...], message: str, words: str) -> None:
    said = told(TEST.format(*pieces), message, Status.WRONG_ANSWER)
    assert words in said if words else said == ""


def test_pieces_are_not_their_size() -> None:
    source = (
        'TESTS = {{"a": (lambda x: torch.cat([b for b in x.{}(64)]), []), "b": (lambda x: x.{}(64), [])}}\n'
    )
    finding = Finding("test of a", Status.WRONG_ANSWER, "The test fails on a right kernel: wrong.")
    find = caught_failures.FACTS[1][0]
    assert ["`x.split(64)`" in f.fix for f in find(read(source.format("chunk", "split")), finding)] == [True]
    assert not list(find(read(source.format("split", "split")), finding))
    assert not list(find(read(source.format("chunk", "chunk")), finding))


@pytest.mark.parametrize(
    "piece",
    ["if (0 < t < ", "if (t > 0) s += a; else ", "out[i] = x[i] + x[i] + 1", "float last; if (t == 3) last = 1;", "x[t", "if (t == 1) tile[0] = x[i - 1];"],
)  # fmt: skip
@pytest.mark.parametrize("message", [NEVER, COPY, LAST, FEW])
def test_long_texts_take_no_longer_than_their_length(piece: str, message: str) -> None:
    began = time.process_time()
    text = read(KERNEL.format(piece * (60_000 // len(piece))))
    finding = Finding("a case", Status.WRONG_OUTPUT, message, evidence={})
    for module in (python_habits, branch_slips, block_slips):
        for find, _ in module.FACTS:
            list(find(text, finding))
    assert time.process_time() - began < 5
