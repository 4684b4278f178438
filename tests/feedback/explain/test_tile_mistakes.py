"""A short last block's last element, and elements that are read again although a tile has them."""

from typing import Any

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

REVERSE = '''source = r"""
__global__ void reverse_kernel(const float* x, float* out, int, int n) {
    __shared__ float tile[SIZE];
    const int t = threadIdx.x, i = me(), first = i - t, count = min(SIZE, n - first);
    if (i < n) tile[t] = x[i];
    __syncthreads();
    if (i < n) out[i] = tile[count - 1 - t];
}
"""
reverse, = build("a", source)
'''
OFFSET = '''source = r"""
__global__ void offset_kernel(const float* x, float* out, int, int n) {
    __shared__ float last;
    const int t = threadIdx.x, i = me(), first = i - t, count = min(SIZE, n - first);
    if (t == count - 1) last = x[i];
    __syncthreads();
    if (i < n) out[i] = x[i] - last;
}
"""
offset, = build("a", source)
'''
NEARBY = '''source = r"""
__global__ void nearby_kernel(const float* x, float* out, int, int n) {
    __shared__ float tile[SIZE];
    int t = threadIdx.x, i = me();
    tile[t] = x[i];
    __syncthreads();
    float sum = tile[t];
    if (t > 0) sum += tile[t - 1];
    out[i] = sum;
}
"""
nearby, = build("a", source)
'''


def unset(line: int, name: str = "tile") -> Finding:
    what = (
        f"reads element 63 of {name} (256 bytes of shared memory), which no thread of the block has written"
    )
    seen = [{"kind": "shared-uninitialised", "line": line, "what": what}]
    return Finding("memory", Status.UNINITIALISED, what, evidence={"seen": seen})


def told(source: str, finding: Finding) -> dict[str, Any]:
    return attach.explained(finding, source).evidence.get("explanation") or {"rule": "", "fix": "", "line": 0}


@pytest.mark.parametrize(
    ("old", "new", "line", "fix"),
    [
        ("tile[count - 1 - t]", "tile[SIZE - 1 - t]", 7, "Write `count - 1 - t`."),
        ("tile[count - 1 - t]", "tile[(SIZE - 1) - threadIdx.x]", 7, "Write `count - 1 - threadIdx.x`."),
        ("if (i < n) out[i] = tile[count - 1 - t]", "const int j = blockDim.x - t - 1;\n    if (i < n) out[i] = tile[j]",
         7, "Write `count - 1 - t`."),
        (", first = i - t, count = min(SIZE, n - first);\n    if (i < n) tile[t]", ";\n    if (i < n) tile[63 - 1 - t]",
         5, "the smaller of 63"),
        ("out[i] = tile[count - 1 - t]", "out[i] = tile[SIZE - 1]", 7, "Write `count - 1`."),
    ],
)  # fmt: skip
def test_an_index_from_the_end_of_a_block_that_may_be_short(old: str, new: str, line: int, fix: str) -> None:
    assert REVERSE.count(old) == 1
    found = told(REVERSE.replace(old, new), unset(7))
    assert (found["rule"], found["line"]) == ("from-the-end", line), found
    assert fix in found["fix"]


def test_the_same_where_the_tile_is_filled_with_zeros_and_where_one_thread_keeps_the_last() -> None:
    source = REVERSE.replace("count - 1 - t", "SIZE - 1 - t").replace(
        "if (i < n) tile[t] = x[i];", "tile[t] = i < n ? x[i] : 0;"
    )
    wrong = Finding("reverse", Status.WRONG_OUTPUT, "First wrong: element [128] is 0, expected 1.")
    assert told(source, wrong)["rule"] == "from-the-end"
    found = told(OFFSET.replace("t == count - 1", "t == SIZE - 1"), unset(7, "last"))
    assert (found["rule"], found["line"]) == ("from-the-end", 5)
    assert found["fix"] == "Ask for the last thread that has one: `t == count - 1`."


def test_a_count_from_the_blocks_own_number_is_left_alone() -> None:
    assert told(REVERSE, unset(7))["rule"] == "half-filled"
    assert told(OFFSET, unset(7, "last"))["rule"] != "from-the-end"


@pytest.mark.parametrize(
    ("old", "new", "line", "fix"),
    [
        ("sum += tile[t - 1]", "sum += x[i - 1]", 8, "Where x[i - 1] belongs to this block, it is `tile[t - 1]`."),
        ("float sum = tile[t]", "float sum = x[i]", 7, "Take `tile[t]`."),
        ("sum += tile[t - 1]", "sum += x[me() - 1]", 8, "Take it from tile."),
    ],
)  # fmt: skip
def test_an_element_that_is_read_again(old: str, new: str, line: int, fix: str) -> None:
    assert NEARBY.count(old) == 1
    evidence = {"metric": "global_load_requests", "line": 5, "kernel": "nearby_kernel", "known": True}
    many = Finding(
        "read once", Status.FAILED, "Counted 16 global load requests, allowed 8.", evidence=evidence
    )
    found = told(NEARBY.replace(old, new), many)
    assert (found["rule"], found["line"], found["fix"]) == ("read-again", line, fix)
    assert told(NEARBY, many)["rule"] == ""
    stores = Finding(
        "x", Status.FAILED, "Counted 16", evidence=evidence | {"metric": "global_store_requests"}
    )
    assert told(NEARBY.replace(old, new), stores)["rule"] == ""


PAIRS = '''source = r"""
__global__ void pairs_kernel(const float* x, float* out, int, int n) {
    __shared__ float tile[SIZE + 1];
    const int t = threadIdx.x, i = me();
    tile[t] = i < n ? x[i] : 0;
    if (t == SIZE - 1) tile[SIZE] = i + 1 < n ? x[i + 1] : 0;
    __syncthreads();
    if (i < n) out[i] = tile[t] + tile[t + 1];
}
"""
pairs, = build("a", source)
'''


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("t == SIZE", "t runs from 0 to SIZE - 1"),
        ("t > SIZE - 1", "No thread has `t > SIZE - 1`"),
        ("t >= blockDim.x", "t runs from 0 to blockDim.x - 1"),
        ("threadIdx.x == blockDim.x && i < n", "No thread has `threadIdx.x == blockDim.x`"),
        ("t < 0", "No thread has `t < 0`"),
        ("t == -1", "No thread has `t == -1`"),
    ],
)
def test_a_condition_that_no_thread_meets(condition: str, words: str) -> None:
    for status in (Status.UNINITIALISED, Status.WRONG_OUTPUT):
        found = told(PAIRS.replace("t == SIZE - 1", condition), Finding("pairs", status, "wrong"))
        assert (found["rule"], found["line"]) == ("met-by-nobody", 6), found
        assert words in found["cause"] and "filled already" not in found["cause"]
        assert "== SIZE - 1`" in found["fix"] or "== blockDim.x - 1`" in found["fix"]


@pytest.mark.parametrize("condition", ["t == SIZE - 1", "t == 0", "t == SIZE / 2", "i == n", "t > 0"])
def test_a_condition_that_a_thread_meets(condition: str) -> None:
    found = told(PAIRS.replace("t == SIZE - 1", condition), Finding("pairs", Status.UNINITIALISED, "wrong"))
    assert found["rule"] != "met-by-nobody"
    leaves = PAIRS.replace("    if (t == SIZE - 1) ", "    if (t >= blockDim.x) return;\n    ")
    assert told(leaves, Finding("pairs", Status.UNINITIALISED, "wrong"))["rule"] != "met-by-nobody"


def test_the_thread_behind_the_last() -> None:
    found = told(
        OFFSET.replace("t == count - 1", "t == count"), Finding("offset", Status.WRONG_OUTPUT, "wrong")
    )
    assert (found["rule"], found["line"]) == ("behind-the-last", 5)
    assert found["fix"] == "The last is the one with `t == count - 1`."


def unwritten(source: str) -> dict[str, Any]:
    what = "reads element 0 of last (4 bytes of shared memory), which no thread of the block has written"
    seen = {"kind": "uninit-shared", "kernel": "offset_kernel", "line": 7, "block": [0, 0, 0], "what": what}
    finding = Finding("memory", Status.UNINITIALISED, f"Line 7: {what}.", evidence={"seen": [seen]})
    told = attach.explained(finding, source).evidence.get("explanation") or {"rule": ""}
    assert isinstance(told, dict)
    return told


@pytest.mark.parametrize(
    ("condition", "says"),
    [
        ("i == n - 1", "one thread of all blocks together"),
        ("me() == 0", "one thread of all blocks together"),
        ("i < n && blockIdx.x == 1", "in block (0, 0, 0) no thread came to it"),
    ],
)
def test_the_one_statement_that_writes_is_named_where_it_was_never_reached(condition: str, says: str) -> None:
    told = unwritten(OFFSET.replace("t == count - 1", condition))
    assert (told["rule"], told["line"]) == ("written-under", 5) and says in told["cause"]
    assert f"`{condition}`" in told["cause"] and ("`t`" in told["fix"]) == ("grid" in told["cause"])


@pytest.mark.parametrize(
    "edit",
    [
        ("    __syncthreads();\n", ""),  # it may come too early
        ("if (t == count - 1) last", "last = 0;\n    if (i == n - 1) last"),
        ("if (t == count - 1) last = x[i];", "if (i == n - 1) put(&last, x[i]);"),
    ],
)
def test_nothing_is_said_where_another_statement_may_write(edit: tuple[str, str]) -> None:
    assert unwritten(OFFSET.replace(*edit))["rule"] != "written-under"
