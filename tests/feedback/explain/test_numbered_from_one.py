"""A thread's number that takes blocks, threads or elements to be numbered from 1."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import facts, numbered_from_one
from grader.feedback.explain.source_text import read

PYTHON = "def k(block, thread, size, n, x, out):\n    i = {}\n    if 0 < i < n:\n        out[{}] = x[{}]\n"
CUDA = """from torch.utils.cpp_extension import load_inline
cuda_source = r\"\"\"
__global__ void k(const float* x, float* out, int64_t n) {{
    const int64_t i = {};
    if (i < n) {};
}}
\"\"\"
extension = load_inline(name="k", cpp_sources="", cuda_sources=cuda_source)
"""


@pytest.mark.parametrize(
    ("made", "index", "line", "words"),
    [
        ("(block - 1) * size + thread", "i", 2, "is -size, and it lies one whole block too low"),
        ("thread + (block + 1) * size", "i", 2, "is size, and it lies one whole block too far"),
        ("block * size - size + thread", "i", 2, "is -size"),
        ("block * size + thread + 1", "i", 2, "is 1, and it lies one element too far"),
        ("size * block + (thread - 1)", "i", 2, "is -1, and it lies one element too low"),
        ("block * size + thread", "i - 1", 4, "`i - 1` is -1"),
        ("block * size + thread", "i + 1", 4, "`i + 1` is 1"),
        ("block * size + thread", "i", 0, ""),
        ("block * size + thread + 1", "i - 1", 0, ""),
        ("block * size + thread * 2", "i", 0, ""),
        ("block * (size - 1) + thread", "i", 0, ""),
        ("block * size + thread", "n - 1", 0, ""),
        ("(block - 1) * size + thread\n    i += size", "i", 0, ""),
        ("(block - 1) * size + thread\n    out[i + size] = 0", "i", 0, ""),
    ],
)
def test_in_python(made: str, index: str, line: int, words: str) -> None:
    source = PYTHON.format(made, index, index)
    finding = Finding("k", Status.WRONG_OUTPUT, "out[3] is 1.", evidence={"on_grid": "k", "size": 8, "n": 29})
    found = facts.explained(finding, source)
    assert (found is not None and found.rule == "numbered-from-one") is bool(words), found
    if found and words:
        assert found.line == line and words in found.cause and "numbered from 0" in found.cause
        assert f"`{'i' if line == 4 else 'block * size + thread'}`" in found.fix


OWN = "blockIdx.x * blockDim.x + threadIdx.x"


@pytest.mark.parametrize(
    ("made", "store", "words"),
    [
        ("(blockIdx.x - 1) * blockDim.x + threadIdx.x", "out[i] = x[i]", "is -blockDim.x"),
        ("static_cast<int64_t>(blockIdx.x + 1) * blockDim.x + threadIdx.x", "out[i] = x[i]", "is blockDim.x"),
        (f"{OWN} + 1", "out[i] = x[i]", "is 1, and it lies one element too far"),
        (f"{OWN} - 1", "out[i] += x[i]", "is -1"),
        (OWN, "out[i] = x[i]", ""),
        (f"{OWN} - 1", "tile[threadIdx.x] = x[i]", ""),
        (f"{OWN} + 1", "out[i - 1] = x[i]", ""),
        ("blockIdx.x * (blockDim.x - 2) + threadIdx.x - 1", "out[i] = x[i]", ""),
        ("blockIdx.x * blockDim.y + threadIdx.x - 1", "out[i] = x[i]", ""),
    ],
)
def test_in_cuda(made: str, store: str, words: str) -> None:
    text = read(CUDA.format(made, store))
    found = [
        f for find, _ in numbered_from_one.FACTS for f in find(text, Finding("k", Status.WRONG_OUTPUT, ""))
    ]
    assert bool(found) is bool(words), found
    if words:
        assert found[0].line == 4 and words in found[0].cause and "threadIdx.x`" in found[0].fix
