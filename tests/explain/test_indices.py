"""Facts about indices, guards and sizes: found at their line, and never in a file that is right."""

from pathlib import Path

import pytest

from grader.explain import indices
from grader.explain.text import read
from grader.lessons import every
from grader.verdict import Finding, Status

HONEST = sorted((Path(__file__).parents[1] / "corpus" / "honest").glob("*.py"))
RIGHT = [s for one in every() for s in one.solution.parent.rglob("*.py")] + HONEST
FAILED = Finding("a case", Status.WRONG_OUTPUT, "This case: nan, transposed, empty.")
KERNEL = "__global__ void k(const float* in, float* out, int rows, int cols) {{\n{}\n}}\n"
USUAL = KERNEL.format("int row = blockIdx.y * 16 + threadIdx.y; int col = blockIdx.x * 16 + threadIdx.x;")


def found(cuda: str) -> list[tuple[str, int]]:
    text = read(f'source = r"""\n{cuda}"""\n')
    return [(fact.rule, fact.line) for find, _ in indices.FACTS for fact in find(text, FAILED)]


def test_nothing_is_found_in_files_that_are_right() -> None:
    said = {
        f"{path.parent.name}/{path.name}:{fact.line}: {fact.cause}"
        for path in RIGHT
        for find, _ in indices.FACTS
        for fact in find(read(path.read_text("utf-8")), FAILED)
    }
    assert said == set()


@pytest.mark.parametrize(
    "line, rule",
    [
        ("int i = blockIdx.x * gridDim.x + threadIdx.x;", "thread-number"),
        ("const int64_t i = static_cast<int64_t>(gridDim.x) * blockIdx.x + threadIdx.x;", "thread-number"),
        ("int i = blockIdx.x + threadIdx.x;", "thread-number"),
        ("int i = (int64_t)threadIdx.x + blockIdx.x;", "thread-number"),
        ("int i = blockIdx.x * threadIdx.x;", "thread-number"),
        ("int i = blockIdx.x * blockDim.x * threadIdx.x;", "thread-number"),
        ("int i = threadIdx.x * blockDim.x + blockIdx.x;", "thread-number"),
        ("int i = blockIdx.y * blockDim.x + threadIdx.y;", "thread-number"),
        ("int i = blockIdx.x * blockDim.x + threadIdx.x;", ""),
        ("int i = threadIdx.x + blockIdx.x * blockDim.x;", ""),
        ("int i = threadIdx.x + blockDim.x * blockIdx.x;", ""),
        ("int i = blockIdx.x * 256 + threadIdx.x;", ""),
        ("int i = threadIdx.x * gridDim.x + blockIdx.x;", ""),
        ("if (row >= rows && col >= cols) return;", "guard-and"),
        ("if (row > rows - 1 && col > cols - 1) { return; }", "guard-and"),
        ("if (row >= rows || col >= cols) return;", ""),
        ("if (row < rows || col < cols) out[0] = 1;", "guard-or"),
        ("if (row < rows && col < cols) out[0] = 1;", ""),
        ("int i = row * rows + col;", "row-length"),
        ("out[y * height + x] = 1;", "row-length"),
        ("int i = col * cols + row;", "row-length"),
        ("int i = row * cols + col;", ""),
        ("int i = col * rows + row;", ""),
        ("int n = rows * cols;", ""),
    ],
)
def test_a_line_of_a_kernel(line: str, rule: str) -> None:
    assert found(KERNEL.format(line)) == ([(rule, 3)] if rule else [])


@pytest.mark.parametrize(
    "grid, line",
    [
        ("dim3 grid((rows + 15) / 16, (cols + 15) / 16);", 6),
        ("dim3 grid{(unsigned)x.size(0) / 16 + 1, (unsigned)x.size(1) / 16 + 1};", 6),
        ("k<<<dim3((rows + 15) / 16, (cols + 15) / 16), dim3(16, 16)>>>(p, q, rows, cols);", 6),
        ("dim3 grid((cols + 15) / 16, (rows + 15) / 16);", 0),
        ("dim3 grid(rows, rows);", 0),
    ],
)
def test_a_grid_with_its_numbers_in_each_others_place(grid: str, line: int) -> None:
    assert found(f"{USUAL}void f() {{\n{grid}\n}}\n") == ([("grid-turned", line)] if line else [])


@pytest.mark.parametrize(
    "host, rule",
    [
        ("dim3 block(64, 64);\n k<<<grid, block>>>(1);", "block-too-large"),
        ("const int threads = 2048;\n k<<<blocks, threads, 0, stream>>>(1);", "block-too-large"),
        ("k<<<(n + 2047) / 2048, 2048>>>(1);", "block-too-large"),
        ("k<<<grid, dim3(32, 64)>>>(1);", "block-too-large"),
        ("k<<<grid, 256>>>(1);", "empty-grid"),
    ],
)
def test_a_launch_that_cuda_refuses(host: str, rule: str) -> None:
    refused = Finding("empty", Status.CUDA_ERROR, "CUDA error: invalid configuration argument")
    told = indices.launch(refused, f'source = r"""\n{USUAL}void f() {{\n{host}\n}}\n"""\n')
    assert told is not None and (told.rule, told.line) == (rule, 6)
