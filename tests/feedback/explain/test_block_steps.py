"""A step from block to block that is not the number of its threads."""

import time

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import block_steps
from grader.feedback.explain.source_text import read

KERNEL = '''code = r"""
constexpr int SIDE = 16, SMALL = 32;
__global__ void k(const float* x, float* out, int n) {{
    {}
}}

void run(const float* x, float* out, int n) {{
    {}
    k<<<blocks, threads>>>(x, out, n);
}}
"""
'''
PLAIN = "const int threads = 256, blocks = (n + threads - 1) / threads;"
TWO = "const dim3 threads(SIDE, SIDE), blocks((n + 15) / 16, n);"
GUARD = " if (i < n) out[i] = x[i];"


def found(made: str, launch: str = PLAIN) -> list[tuple[int, str]]:
    text = read(KERNEL.format(made, launch))
    finding = Finding("a case", Status.RACE, "", 0, 1, {})
    return [(f.line, f"{f.cause} {f.fix}") for find, _ in block_steps.FACTS for f in find(text, finding)]


@pytest.mark.parametrize(
    ("made", "launch", "words"),
    [
        ("int64_t i = static_cast<int64_t>(blockIdx.x) * 32 + threadIdx.x;" + GUARD, PLAIN,
         "256 threads along x (line 8), and this line counts 32 for each block. Block 0 has the numbers 0 to 255, "
         "and block 1 begins with i = 32: block 0 has that already."),
        ("int i = blockIdx.x * SMALL + threadIdx.x;" + GUARD, PLAIN, "counts SMALL (32) for each block"),
        ("int i = threadIdx.x + blockIdx.x * 512;" + GUARD, PLAIN, "begins with i = 512: nobody has 256 to 511."),
        ("int i = blockIdx.y * 17 + threadIdx.y, j = blockIdx.x * SIDE + threadIdx.x;" + GUARD, TWO,
         "16 threads along y (line 8), and this line counts 17 for each block. Block 0 has the numbers 0 to 15, "
         "and block 1 begins with i = 17: nobody has 16."),
        ("int c = blockIdx.x * 32 + threadIdx.x; out[blockIdx.y * n + c] = 0;", TWO, "nobody has 16 to 31."),
        ("int i = blockIdx.x * 32 + threadIdx.x;" + GUARD, PLAIN, "`blockIdx.x * blockDim.x + threadIdx.x`"),
    ],
)  # fmt: skip
def test_the_step_is_told(made: str, launch: str, words: str) -> None:
    ((line, said),) = found(made, launch)
    assert line == 4 and words in said


@pytest.mark.parametrize(
    ("made", "launch"),
    [
        ("int i = blockIdx.x * 256 + threadIdx.x;" + GUARD, PLAIN),
        ("int i = blockIdx.x * blockDim.x + threadIdx.x;" + GUARD, PLAIN),
        ("int i = blockIdx.x * 32 + threadIdx.x / 8;" + GUARD, PLAIN),
        ("int i = blockIdx.x * 32 + threadIdx.x; if (threadIdx.x < 32) out[i] = x[i];", PLAIN),
        ("int i = blockIdx.x * 512 + threadIdx.x; out[i] = x[i]; out[i + 256] = x[i + 256];", PLAIN),
        ("int i = blockIdx.x * 512 + threadIdx.x; out[i] = x[i]; out[256 + i] = x[256 + i];", PLAIN),
        ("int i = blockIdx.x * 512 + threadIdx.x; for (int j = i; j < n; j += 256) out[j] = x[j];", PLAIN),
        ("__shared__ float tile[34]; int i = blockIdx.x * 32 + threadIdx.x;" + GUARD, PLAIN),
        ("int i = blockIdx.x * 32 + threadIdx.x;" + GUARD, "int threads = n > 9 ? 256 : 32, blocks = 9;"),
        ("int i = blockIdx.x * 32 + threadIdx.x;" + GUARD, PLAIN + " k<<<n, 32>>>(x, out, n);"),
        ("int i = blockIdx.x * SIDE + threadIdx.x, j = blockIdx.y * SIDE + threadIdx.y;" + GUARD, TWO),
    ],
)
def test_a_step_that_may_be_right_is_not_told(made: str, launch: str) -> None:
    assert found(made, launch) == []


@pytest.mark.parametrize(
    "piece", ["i = blockIdx.x * 32 + ", "i = threadIdx.x + ", "blockIdx.x ", "i = ", "k<<<"]
)
def test_long_texts_take_no_longer_than_their_length(piece: str) -> None:
    began = time.process_time()
    found(piece * (60_000 // len(piece)) + ";")
    assert time.process_time() - began < 5
