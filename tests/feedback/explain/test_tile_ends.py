"""A tile with a place at an end that no thread writes and one reads."""

import time

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import tile_ends
from grader.feedback.explain.source_text import read

KERNEL = '''code = r"""
__global__ void k(const float* x, float* out, int, int n) {{
    __shared__ float tile[{}];
    const int t = threadIdx.x{}, i = me();
    {}
    {}
    __syncthreads();
    out[i] = tile[t - 1] + tile[t] + tile[t + 1];
}}
"""
'''
ENDS = ((65, 63), (0, 0))


def unset(*read_: tuple[int, int], elements: int = 66, line: int = 8) -> Finding:
    """Reads of places of ``tile`` that are seen, each with its thread."""
    seen = [
        {
            "kind": "shared-uninitialised-read",
            "what": f"reads element {e} of tile ({4 * elements} bytes of shared memory), which no thread of the block has written",
            "line": line,
            "size": 4,
            "thread": [thread, 0, 0],
        }
        for e, thread in read_
    ]
    return Finding("memory", Status.UNINITIALISED, "", 0, 1, {"seen": seen})


@pytest.mark.parametrize(
    ("pieces", "finding", "told"),
    [
        (
            ("SIZE + 2", " + 1", "tile[t] = x[i];", ""),
            unset(*ENDS),
            "tile[1] to tile[SIZE]. In each block thread 0 reads tile[0] and thread SIZE - 1 reads tile[SIZE + 1], in line 8",
        ),
        (
            ("SIZE + 2", "", "tile[t + 1] = x[i];", ""),
            unset(*ENDS),
            "`if (threadIdx.x == 0) tile[0] = ...;` and `if (threadIdx.x == SIZE - 1) tile[SIZE + 1] = ...;`",
        ),
        (
            ("SIZE + 2", " + 1", "tile[t] = x[i];", "if (t == 1) tile[0] = 0;"),
            unset((65, 63)),
            "nobody has written it. ",
        ),
        (
            ("64 + 1", "", "if (i < n) tile[t] = x[i];", ""),
            unset((64, 63), elements=65),
            "tile[0] to tile[63]",
        ),
        # another place than the ends: a short block, say
        (("SIZE + 2", " + 1", "if (i < n) tile[t] = x[i];", ""), unset((30, 28)), ""),
        # a loop may write any place, and so may an index that is not known
        (("SIZE + 2", " + 1", "for (int j = t; j < 66; j += 64) tile[t] = x[i];", ""), unset(*ENDS), ""),
        (("SIZE + 2", " + 1", "tile[t] = x[i];", "tile[t ^ 1] = 0;"), unset(*ENDS), ""),
        # some of the threads alone
        (("SIZE + 2", " + 1", "if (t == 3) tile[t] = x[i];", ""), unset(*ENDS), ""),
        (("SIZE + 2", " + 1", "if (t == 3) { n = 1; tile[t] = x[i]; }", ""), unset(*ENDS), ""),
        # written too late, which is another mistake
        (
            ("SIZE + 2", " + 1", "tile[t] = x[i]; __syncthreads();", "if (t == 1) tile[0] = 0;"),
            unset(*ENDS),
            "",
        ),
        (("70", " + 1", "tile[t] = x[i];", ""), unset(*ENDS), ""),
    ],
)
def test_ends_that_nobody_fills(pieces: tuple[str, ...], finding: Finding, told: str) -> None:
    text = read(KERNEL.format(*pieces))
    facts = [f for find, _ in tile_ends.FACTS for f in find(text, finding)]
    assert [(f.line, told in f"{f.cause} {f.fix}") for f in facts] == ([(5, True)] if told else [])


@pytest.mark.parametrize(
    "piece", ["tile[t] = x[i];\n", "if (t", "int t = threadIdx.x + 1;", "__shared__ float tile[", "{"]
)
def test_long_texts_take_no_longer_than_their_length(piece: str) -> None:
    text = read(KERNEL.format("SIZE + 2", " + 1", piece * (60_000 // len(piece)), ""))
    began = time.process_time()
    for find, _ in tile_ends.FACTS:
        list(find(text, unset(*ENDS)))
    assert time.process_time() - began < 5
