"""A guard one too far in front of a store into shared memory that other threads read."""

import time

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import around_the_call, row_starts, taken_early, tile_fills
from grader.feedback.explain.source_text import read

KERNEL = '''code = r"""
__global__ void k(const float* x, float* out, int, int n) {{
    __shared__ float tile[SIZE + 1];
    const int t = threadIdx.x, i = me(), count = min(SIZE, n - (i - t));
    {}
    __syncthreads();
    {}
}}
"""
'''
FILL = "if (i <= n) tile[t] = x[i];"


@pytest.mark.parametrize(
    ("fill", "read_", "told"),
    [
        (
            FILL,
            "if (i < n) out[i] = tile[t] + tile[t + 1];",
            "`tile[t + 1]` in line 7 reads it. Let that thread write 0",
        ),
        (
            "if (i <= n) { tile[t] = x[i]; }",
            "if (i < n) { out[i] = tile[t + 1]; }",
            "`tile[t] = i < n ? x[i] : 0;`",
        ),
        (
            FILL,
            "for (int s = 32; s; s /= 2) { if (t < s) tile[t] += tile[t + s]; }",
            "`tile[t + s]` in line 7",
        ),
        (FILL, "for (int s = 32; s; s /= 2) tile[t] = fmaxf(tile[t], tile[t + s]);", "x[i] : -INFINITY;`"),
        (FILL, "if (i < n) out[i] = tile[count - 1 - t];", ""),
        (FILL, "if (i < n) out[i] = i + 1 < n ? tile[t + 1] : 0;", ""),
        (FILL, "if (i < n - 1) { float v = 1; out[i] = tile[t + 1]; }", ""),
        ("if (i < n) tile[t] = x[i];", "if (i < n) out[i] = tile[t + 1];", ""),
        ("if (i <= n) tile[t] = x[i]; else tile[t] = 0;", "if (i < n) out[i] = tile[t + 1];", ""),
        ("if (i <= n) out[t] = x[i];", "if (i < n) x[i] = out[t + 1];", ""),
    ],
)
def test_what_lies_behind_the_last_element(fill: str, read_: str, told: str) -> None:
    text = read(KERNEL.format(fill, read_))
    finding = Finding("memory", Status.ILLEGAL_ACCESS, "", 0, 1, {})
    facts = [f for find, _ in tile_fills.FACTS for f in find(text, finding)]
    assert [(f.line, told in f"{f.cause} {f.fix}") for f in facts] == ([(5, True)] if told else [])


@pytest.mark.parametrize(
    "piece",
    [
        "if (i <= n) tile[t] = x[i]; if (i + 1 < n) tile[t + 1]; ",
        "if (i <= n) tile[t] = x[i]; r = me() / n; c = me() % n; x[r * rows + c]; ",
        "p = x.data_ptr(); x = x.contiguous(); ",
        "out[i] = 1 + x; ",
    ],
)
def test_long_texts_take_no_longer_than_their_length(piece: str) -> None:
    python = "def f(x):\n" + "    y = k(x) + x * 2\n" * 500
    text = read(KERNEL.format(piece * (60_000 // len(piece)), "") + python)
    finding = Finding("memory", Status.ILLEGAL_ACCESS, "", 0, 1, {})
    began = time.process_time()
    for module in (around_the_call, row_starts, taken_early, tile_fills):
        for find, _ in module.FACTS:
            list(find(text, finding))
    assert time.process_time() - began < 5
