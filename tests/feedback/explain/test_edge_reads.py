"""Reads at an edge: a guard turned round, a neighbour clamped to the end, an index that goes backwards."""

import time

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import edge_reads
from grader.feedback.explain.source_text import read

KERNEL = '''code = r"""
__global__ void k(const float* x, float* out, int, int n) {{
    __shared__ float tile[SIZE];
    const int t = threadIdx.x, i = me(), count = min(SIZE, n - (i - t));
    {}
}}
"""
'''
GRID = "def k(block, thread, size, n, x, out):\n    i = block * size + thread\n    left = {}\n    out[i] = left + x[i]\n"


def found(source: str, message: str = "", **evidence: object) -> list[tuple[int, str]]:
    finding = Finding("memory", Status.WRONG_OUTPUT, message, 0, 1, evidence)
    text = read(source)
    return [
        (fact.line, f"{fact.cause} {fact.fix}")
        for find, _ in edge_reads.FACTS
        for fact in find(text, finding)
    ]


@pytest.mark.parametrize(
    ("code", "fix"),
    [
        ("tile[t] = i < n ? 0.0f : x[i];", "`i < n` is turned round: x[i] is read where it is false"),
        ("tile[t] = i < n ? 0.0f : x[i];", "Exchange the two: `i < n ? x[i] : 0.0f`."),
        ("tile[t] = n > i ? 0 : x[i];", "Exchange the two: `n > i ? x[i] : 0`."),
        ("tile[t] = i >= n ? x[i] : 0;", "Exchange the two: `i >= n ? 0 : x[i]`."),
        ("float v = i + 1 < n ? 0 : x[i + 1];", "`i + 1 < n ? x[i + 1] : 0`"),
        ("float v = i < n - 1 ? 0 : x[i + 1];", "`i < n - 1 ? x[i + 1] : 0`"),
        ("float v = i == n - 1 ? x[i + 1] : 0;", "`i == n - 1 ? 0 : x[i + 1]`"),
        ("float v = (t > 0 ? 0 : tile[t - 1]) + tile[t];", "`t > 0 ? tile[t - 1] : 0`"),
        ("float v = t == 0 ? tile[t - 1] : 0;", "`t == 0 ? 0 : tile[t - 1]`"),
        ("float v = t - 1 >= 0 ? 0 : tile[t - 1];", "`t - 1 >= 0 ? tile[t - 1] : 0`"),
        ("float v = tile[max(t - 1, 0)];", "Where t is 0 there is no neighbour on the left, and `tile[max(t - 1, 0)]` reads tile[0]"),
        ("float v = tile[max(t - 1, 0)];", "`t > 0 ? tile[t - 1] : 0`"),
        ("float v = tile[min(t + 1, SIZE - 1)];", "`t + 1 < SIZE ? tile[t + 1] : 0`"),
        ("float v = x[min(n - 1, i + 1)];", "`i + 1 < n ? x[i + 1] : 0`"),
        ("float v = x[abs(i - 1)];", "reads x[1], the one on its right"),
        ("out[i] = tile[count - t];", "is 1 off: for t = 0 it is count, and the last element has the number count - 1. Write `tile[count - 1 - t]`."),
        ("out[i] = tile[count + 1 - t];", "is 2 off: for t = 0 it is count + 1"),
        ("out[i] = tile[count - t - 2];", "is 1 off: for t = count - 1 it is -1, and the first element has the number 0"),
        ("out[i] = tile[n - i];", "tile holds the elements of one block, and `tile[n - i]` counts in the whole grid"),
        ("out[i] = tile[n - 1 - i];", "Write `tile[count - 1 - t]`."),
        ("out[n - i] = x[i];", "Write `out[n - 1 - i]`."),
    ],
)  # fmt: skip
def test_the_edge_is_asked_for_the_wrong_way(code: str, fix: str) -> None:
    told = found(KERNEL.format(code))
    assert [line for line, _ in told] == [5] and fix in told[0][1], told


@pytest.mark.parametrize(
    "code",
    [
        "tile[t] = i < n ? x[i] : 0;",
        "tile[t] = i >= n ? 0 : x[i];",
        "float v = (t > 0 ? tile[t - 1] : 0) + (t + 1 < SIZE ? tile[t + 1] : 0);",
        "float v = t == 0 ? 0 : tile[t - 1];",
        "float v = i < n - 1 ? x[i + 1] : 0;",
        "float v = i == n - 1 ? 0 : x[i + 1];",
        "float v = i < 3 ? 0 : x[i];",  # what stands before the first three is not asked for
        "float v = i < n ? 0 : x[i - n];",
        "float v = t > 0 ? 0 : tile[t];",
        "float v = tile[max(t, 0)] + tile[min(t + 2, SIZE - 1)];",
        "out[i] = tile[count - 1 - t];",
        "out[n - 1 - i] = x[i];",
        "out[i] = x[n - count];",
    ],
)
def test_right_edges_are_not_blamed(code: str) -> None:
    assert found(KERNEL.format(code)) == []


def test_a_tile_with_a_place_more_may_be_read_from_there() -> None:
    source = KERNEL.format("out[i] = tile[SIZE - t];").replace("tile[SIZE];", "tile[SIZE + 1];", 1)
    assert found(source) == []


@pytest.mark.parametrize(
    ("value", "wrong", "fix"),
    [
        ("0 if i > 0 else x[i - 1]", "out[0] is 1, ", "Exchange the two: `x[i - 1] if i > 0 else 0`."),
        ("x[i - 1] if i == 0 else 0", "out[0] is 1, ", "Exchange the two: `0 if i == 0 else x[i - 1]`."),
        ("x[max(i - 1, 0)]", "out[0] is 1, ", "Ask for it: `x[i - 1] if i > 0 else 0`."),
        ("x[min(i + 1, n - 1)]", "out[23] is 1, ", "Ask for it: `x[i + 1] if i + 1 < n else 0`."),
        ("x[abs(i - 1)]", "out[0] is 1, ", "x[1], the one on its right"),
        ("x[min(i + 1, n - 1)]", "out[0] is 1, ", ""),
        ("x[max(i - 1, 0)]", "out[23] is 1, ", ""),
        ("x[i - 1] if i > 0 else 0", "out[0] is 1, ", ""),
        ("0 if i == 0 else x[i - 1]", "out[0] is 1, ", ""),
    ],
)
def test_the_edge_in_python(value: str, wrong: str, fix: str) -> None:
    told = found(GRID.format(value), f"Line 4: {wrong}expected 2.", on_grid="k")
    assert bool(told) == bool(fix)
    assert all(line == 3 and fix in said for line, said in told), told


@pytest.mark.parametrize(
    "piece",
    [
        "a - ",
        "x[n-i] ",
        "__shared__ ",
        "t = blockIdx.x ",
        "i < n ? 0 : x[",
        "x[max(a + ",
        "(",
        "a",
        "if (t + 1 < SIZE) a = ",
    ],
)
def test_long_texts_take_no_longer_than_their_length(piece: str) -> None:
    began = time.process_time()
    found(KERNEL.format(piece * (60_000 // len(piece)) + "x[n - i];"), AT_63.replace("line 8", "line 5"))
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("first", "told"),
    [
        ("tile[t] = x[i];", "also one whose i is n or more: `i < n` is asked only below, in line 6."),
        ("tile[t] = x[i];", "`i < n ? x[i] : 0` where each thread needs a value, else `if (i < n)`."),
        ("tile[t] = i < n ? x[i] : 0;", ""),
        ("if (i < n) tile[t] = x[i];", ""),
        ("if (t > 3) { tile[t] = x[i]; }", ""),
        ("tile[t] = x[i + 1];", ""),
    ],
)
def test_a_read_before_the_guard(first: str, told: str) -> None:
    message = "a.py, line 5: reads element 150 of x (Float[150]), 1 element past the end. First seen in k, block (2, 0, 0)."
    finding = Finding("memory", Status.ILLEGAL_ACCESS, message, 0, 1, {})
    source = KERNEL.format(f"{first}\n    if (i < n) out[i] = tile[t];")
    facts = [
        f for find, when in edge_reads.FACTS if finding.status in when for f in find(read(source), finding)
    ]
    assert [(f.line, told in f"{f.cause} {f.fix}") for f in facts] == ([(5, True)] if told else [])


LAST = "First wrong: element [148] is 1, expected 2. Wrong: every element from flat index 148 on, the last 2 of 150."
FIRST = "First wrong: element [0] is 0, expected 2. Wrong: 2 of 150 elements."


@pytest.mark.parametrize(
    ("code", "message", "told"),
    [
        ("tile[t] = i + 1 < n ? x[i] : 0;", LAST, "exists where i is n - 1, too, and 0 is taken in its place. Ask for the element that is read: `i < n`."),
        ("tile[t] = n > i + 1 ? x[i] : 0;", LAST, "`n > i + 1` asks whether there is an element i + 1"),
        ("tile[t] = i < n - 1 ? x[i] : 0.0f;", LAST, "0.0f is taken"),
        ("if (i + 1 < n) tile[t] = x[i];", LAST, "nothing is stored there"),
        ("tile[t] = i > 0 ? x[i] : 0;", FIRST, "exists where i is 0, too"),
        ("tile[t] = i + 2 < n ? x[i] : 0;", LAST, "i is n - 2 to n - 1, too"),
        ("tile[t] = i < n ? x[i] : 0;", LAST, ""),
        ("float v = i + 1 < n ? x[i + 1] : 0;", LAST, ""),
        ("float v = i > 0 ? x[i - 1] : 0;", FIRST, ""),
        ("tile[t] = i + 1 < n ? x[i] : 0;", FIRST, ""),
        ("tile[t] = i > 0 ? x[i] : 0;", LAST, ""),
        ("if (i + 1 < n) out[i] = x[i];", LAST, ""),
        ("if (i + 1 < n) tile[t + 1] = x[i + 1];", LAST, ""),
    ],
)  # fmt: skip
def test_an_own_element_that_is_asked_for_by_its_neighbour(code: str, message: str, told: str) -> None:
    facts = [f for f in found(KERNEL.format(code), message) if "the thread's own" in f[1]]
    assert [f[0] for f in facts] == ([5] if told else [])
    assert not told or told in facts[0][1]


AT_63 = "First wrong: element [63] is 1, expected 2. Wrong: 2 of 150 elements, numbers 63 and 127. It was written by block (0, 0, 0) thread (63, 0, 0), at line 8."
AT_62 = (
    AT_63.replace("[63]", "[62]").replace("(63,", "(62,").replace("numbers 63 and 127", "numbers 62 and 126")
)
HALO = "if (t == SIZE - 1) tile[SIZE] = i + 1 < n ? x[i + 1] : 0;"


@pytest.mark.parametrize(
    ("code", "halo", "message", "told"),
    [
        ("float v = t + 1 < SIZE ? tile[t + 1] : 0;", HALO, AT_63, "SIZE - 1, takes 0 here, as `t + 1 < SIZE` lets"),
        ("float v = t + 1 < SIZE ? tile[t + 1] : 0;", HALO, AT_63, "line 5 has put that into tile[SIZE]"),
        ("float v = t < SIZE - 1 ? tile[t + 1] : 0;", HALO, AT_63, "ask `i + 1 < n ? tile[t + 1] : 0`"),
        ("float v = t == SIZE - 1 ? 0 : tile[t + 1];", HALO, AT_63, "takes 0 here"),
        ("float v = t + 1 < blockDim.x ? tile[t + 1] : 0.0f;", HALO, AT_63, "takes 0.0f here"),
        ("float v = tile[t]; if (t + 1 < SIZE) v += tile[t + 1];", HALO, AT_63, "takes nothing here"),
        ("float v = tile[t]; if (t + 1 < SIZE) v = v + tile[t + 1];", HALO, AT_63, "ask `i + 1 < n`."),
        ("float v = t + 1 < SIZE ? tile[t + 1] : 0;", HALO, AT_62, ""),
        ("float v = t + 1 < SIZE ? tile[t + 1] : 0;", HALO, AT_63.replace("line 8", "line 20"), ""),
        ("float v = t + 1 < SIZE ? tile[t + 1] : 0;", HALO.replace("x[i + 1]", "x[i]"), AT_63, ""),
        ("float v = t + 1 < SIZE ? tile[t + 1] : 0;", "", AT_63, ""),
        ("float v = t + 1 < n ? tile[t + 1] : 0;", HALO, AT_63, ""),
        ("float v = i + 1 < n ? tile[t + 1] : 0;", HALO, AT_63, ""),
        ("float v = tile[t + 1];", HALO, AT_63, ""),
    ],
)  # fmt: skip
def test_the_first_of_the_next_block_is_in_the_tile_and_not_read(
    code: str, halo: str, message: str, told: str
) -> None:
    source = KERNEL.format(f"{halo}\n    __syncthreads();\n    {code}\n    out[i] = v;").replace(
        "tile[SIZE]", "tile[SIZE + 1]", 1
    )
    facts = [f for f in found(source, message) if "the next block" in f[1]]
    assert [f[0] for f in facts] == ([7] if told else [])
    assert not told or told in facts[0][1]
