"""Facts about indices, guards and sizes: found at their line, and never in a file that is right."""

from dataclasses import replace
from pathlib import Path

import pytest

from grader.domain.lessons import every
from grader.domain.verdict import Finding, Status
from grader.feedback.explain import (
    alignment,
    attach,
    bodies,
    claim_tests,
    endless_loops,
    host_mistakes,
    indices,
    inverted_guards,
    layer_mistakes,
    odd_lanes,
    vector_mistakes,
)
from grader.feedback.explain.source_text import read

HONEST = sorted((Path(__file__).parents[2] / "corpus" / "honest").glob("*.py"))
RIGHT = [s for one in every() for s in one.solution.parent.rglob("*.py")] + HONEST
FAILED = Finding("a case", Status.WRONG_OUTPUT, "This case: nan, transposed, empty.")
COPIED = Finding("a case", Status.ILLEGAL_ACCESS, "not device memory; a copy of input 0")
KERNEL = "__global__ void k(const float* in, float* out, int rows, int cols) {{\n{}\n}}\n"
USUAL = KERNEL.format("int row = blockIdx.y * 16 + threadIdx.y; int col = blockIdx.x * 16 + threadIdx.x;")


MODULES = (
    alignment,
    bodies,
    claim_tests,
    endless_loops,
    host_mistakes,
    indices,
    inverted_guards,
    layer_mistakes,
    odd_lanes,
    vector_mistakes,
)
EVERY = [fact for module in MODULES for fact in module.FACTS]


def found(cuda: str) -> list[tuple[str, int]]:
    text = read(f'source = r"""\n{cuda}"""\n')
    return [(fact.rule, fact.line) for find, _ in indices.FACTS for fact in find(text, FAILED)]


@pytest.mark.thorough
def test_nothing_is_found_in_files_that_are_right() -> None:
    said = {
        f"{path.parent.name}/{path.name}:{fact.line}: {fact.cause}"
        for path in RIGHT
        for text in [read(path.read_text("utf-8"))]
        for find, _ in EVERY
        for finding in (FAILED, replace(COPIED, message="a copy of input 0"))
        for fact in find(text, finding)
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
        ("int i = row + col;", "row-length"),
        ("out[row + col * cols] = 1;", "row-length"),
        ("int i = row + col + 1;", ""),
    ],
)
def test_a_line_of_a_kernel(line: str, rule: str) -> None:
    assert found(KERNEL.format(line)) == ([(rule, 3)] if rule else [])


BOTH = "int row = blockIdx.y * 16 + threadIdx.y;\nint col = blockIdx.x * 16 + threadIdx.x;\n"


@pytest.mark.parametrize(
    "guard, rule",
    [
        ("if (row >= rows) return;", "guard-of-one-direction"),
        ("if (col < cols) out[row * cols + col] = 1;", "guard-of-one-direction"),
        ("if (row * cols + col >= rows * cols) return;", "guard-of-one-direction"),
        ("if (i >= rows * cols) return;", "guard-of-one-direction"),
        ("const int64_t i = row * cols + col; if (i >= rows * cols) return;", "guard-of-one-direction"),
        ("if (row >= cols || col >= rows) return;", "guard-turned"),
        ("if (row >= rows || col >= cols) return;", ""),
        ("if (row >= rows) return; for (; col < cols; col += 32) out[col] = 1;", ""),
        # a thread with several rows asks for each of them
        ("for (int j = 0; j < 32; j += 8) if (row + j < rows && col < cols) out[row + j] = 1;", ""),
        ("for (int j = 0; j < 32; j += 8) if (rows > j + row && cols > col) out[row + j] = 1;", ""),
        ("const int r = row + 8; if (r < rows && col < cols) out[r * cols + col] = 1;", ""),
        ("if (row + 8 < cols && col < rows) out[row * cols + col] = 1;", "guard-turned"),
    ],
)
def test_a_guard_for_one_direction(guard: str, rule: str) -> None:
    assert found(KERNEL.format(BOTH + guard)) == ([(rule, 5)] if rule else [])


HOST = "torch::Tensor f(torch::Tensor x) {{\n{}\n}}\n"
LAUNCH = "k<<<grid, block>>>(x.data_ptr<float>(), out.data_ptr<float>(), rows, cols);"


@pytest.mark.parametrize(
    "host, rule",
    [
        (LAUNCH, ""),
        (LAUNCH.replace("rows, cols", "cols, rows"), "arguments-swapped"),
        (LAUNCH.replace("rows, cols", "n, m"), ""),
        ("k(x.data_ptr<float>(), out.data_ptr<float>(), rows, cols);", "kernel-called"),
        ("return out;", "not-launched"),
        (f"x.contiguous(); {LAUNCH}", "copy-dropped"),
        (f"x = x.contiguous(); {LAUNCH}", ""),
        (f"torch::Tensor out = torch::empty_like(x); {LAUNCH} return x;", "input-returned"),
        (f"torch::Tensor out = torch::empty_like(x); {LAUNCH} return out;", ""),
        (f"torch::Tensor out = torch::empty({{2, 3}}); {LAUNCH} return out;", "made-on-cpu"),
        (f"torch::Tensor out = torch::empty({{2, 3}}, x.options()); {LAUNCH} return out;", ""),
    ],
)
def test_a_line_of_host_code(host: str, rule: str) -> None:
    text = read(f'source = r"""\n{KERNEL.format("")}{HOST.format(host)}"""\n')
    facts = {fact.rule: fact.line for find, _ in host_mistakes.FACTS for fact in find(text, COPIED)}
    facts.pop("device-not-checked", None)  # true of all of them
    assert facts == ({rule: 5 if rule == "not-launched" else 6} if rule else {})


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
        ("dim3 block(16, 16, 16);\n k<<<grid, block>>>(1);", "block-too-large"),
        ("k<<<grid, 256>>>(1);", "empty-grid"),
    ],
)
def test_a_launch_that_cuda_refuses(host: str, rule: str) -> None:
    refused = Finding("empty", Status.CUDA_ERROR, "CUDA error: invalid configuration argument")
    told = indices.launch(refused, f'source = r"""\n{USUAL}void f() {{\n{host}\n}}\n"""\n')
    assert told is not None and (told.rule, told.line) == (rule, 6)


@pytest.mark.parametrize(
    ("launch", "threads", "fix"),
    [
        (
            "k<<<threads, (n + threads - 1) / threads, 0, s>>>(1);",
            "1,201",
            "`<<<(n + threads - 1) / threads, threads, ...>>>`",
        ),
        ("k<<<blocks, size>>>(1);", "1,201", "Take a smaller block"),
    ],
)
def test_a_block_whose_size_only_the_launch_knows(launch: str, threads: str, fix: str) -> None:
    text = (
        "CUDA error: invalid argument\nk<<<(256, 1, 1), (1201, 1, 1), 0>>>: a block has at most 1024 threads"
    )
    refused = Finding("many", Status.CUDA_ERROR, "CUDA error: invalid argument", evidence={"text": text})
    told = indices.launch(refused, f'source = r"""\n{USUAL}void f() {{\n{launch}\n}}\n"""\n')
    assert told is not None and (told.rule, told.line) == ("block-too-large", 6)
    assert f"blocks of {threads} threads" in told.cause and fix in told.fix
    assert ("stands where the number of threads belongs" in told.cause) is ("threads" in launch)


@pytest.mark.parametrize(
    ("guard", "said", "line"),
    [
        ("if (x.size(0) == 0) return out;", "one size of x alone", 6),
        ("if (!x.sizes()[1]) { return out; }", "one size of x alone", 6),
        ("const int64_t rows = x.size(0); if (rows == 0) return out;", "one size of x alone", 6),
        ("if (x.size(0) == 0 && x.size(1) == 0) return out;", "only if all of these are 0", 6),
        ("if (x.size(0) == 0 || x.size(1) == 0) return out;", "has no elements, so", 7),
        ("if (x.numel() < 0) return out;", "has no elements, so", 7),
    ],
)
def test_a_guard_that_asks_for_one_size_is_named_where_an_empty_grid_was_launched(
    guard: str, said: str, line: int
) -> None:
    refused = Finding("empty", Status.CUDA_ERROR, "CUDA error: invalid configuration argument")
    host = f"void f(torch::Tensor x) {{\n{guard}\nk<<<grid, 256>>>(1);\n}}"
    told = indices.launch(refused, f'source = r"""\n{USUAL}{host}\n"""\n')
    assert told is not None and said in told.cause and told.line == line


@pytest.mark.parametrize(
    ("guard", "direction"),
    [
        ("if (row * cols + col < rows * cols) out[row * cols + col] = 1;", "column"),
        ("if (rows * cols <= row * cols + col) return;", "column"),
        ("if (row >= rows) return;", "column"),
        ("if (col < cols) out[row * cols + col] = 1;", "row"),
    ],
)
def test_the_direction_is_that_which_the_guard_lets_go_on(guard: str, direction: str) -> None:
    text = read(f'source = r"""\n{KERNEL.format(BOTH + guard)}"""\n')
    causes = [fact.cause for find, _ in indices.FACTS for fact in find(text, FAILED)]
    assert any(f"a thread past the last {direction} goes on" in cause for cause in causes)


@pytest.mark.parametrize(
    ("number", "said", "fix"),
    [
        (
            "blockIdx.x + static_cast<int64_t>(threadIdx.x) * blockDim.x",
            "belongs to the block's number",
            "`static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x`",
        ),
        (
            "blockDim.x * threadIdx.x + blockIdx.x",
            "belongs to the block's number",
            "`blockIdx.x * blockDim.x + threadIdx.x`",
        ),
        ("blockIdx.x + threadIdx.x", "without a factor", "`blockIdx.x * blockDim.x + threadIdx.x`"),
        (
            "blockIdx.y * blockDim.y + threadIdx.x",
            "mixes directions",
            "`blockIdx.y * blockDim.y + threadIdx.y`",
        ),
        (
            "blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.x + threadIdx.x",
            "mixes directions",
            "`blockIdx.y * blockDim.y + threadIdx.y`",
        ),
    ],
)
def test_a_threads_number_is_said_as_it_must_be_there(number: str, said: str, fix: str) -> None:
    source = f'''source = r"""
__global__ void k(const float* x, float* out, int n) {{
    const int64_t i = {number};
    if (i < n) out[i] = x[i];
}}
"""
'''
    finding = Finding("case", Status.WRONG_OUTPUT, "wrong")
    told = attach.explained(finding, source).evidence["explanation"]
    assert (told["rule"], told["line"]) == ("thread-number", 3)
    assert said in told["cause"] and fix in told["fix"], told


@pytest.mark.parametrize(
    ("condition", "told"),
    [("x.dim() == 0", True), ("!x.dim()", True), ("x.numel() == 0", False), ("x.dim() == 2", False)],
)
def test_dimensions_are_no_elements(condition: str, told: bool) -> None:
    source = (
        f'code = r"""\ntorch::Tensor f(torch::Tensor x) {{\n    if ({condition}) return x;\n    k<<<x.size(0), 1>>>();\n'
        '    return x;\n}\n"""\n'
    )
    finding = Finding("empty", Status.CUDA_ERROR, "CUDA error: invalid configuration argument")
    found = attach.explained(finding, source).evidence.get("explanation") or {"rule": "", "line": 0}
    assert (found["rule"] == "dimensions-asked") is told
    assert not told or found["line"] == 3
    found = attach.explained(finding, source.replace(" return x;\n    k", " {}\n    k")).evidence[
        "explanation"
    ]
    assert (found["line"] == 3) == ("numel" in condition)  # it asks, and goes on


def test_the_same_mistake_in_both_directions_is_told_with_both_lines() -> None:
    body = (
        "int row = blockIdx.y * gridDim.y + threadIdx.y;\nint col = blockIdx.x * gridDim.x + threadIdx.x;\n"
        "out[row * cols + col] = in[0];"
    )
    text = read(f'source = r"""\n{KERNEL.format(body)}"""\n')
    (fact,) = [f for find, _ in indices.FACTS for f in find(text, FAILED) if f.rule == "thread-number"]
    assert fact.line == 3 and "Line 4 has the same mistake" in fact.fix
    assert "blockIdx.y * blockDim.y" in fact.fix and "blockIdx.x * blockDim.x" in fact.fix


@pytest.mark.parametrize(
    ("text", "rule"),
    [("\nk<<<(0, 1, 1), (256, 1, 1), 0>>>: the grid is empty", "empty-grid"), ("", "invalid-argument")],
)
def test_another_call_that_got_a_wrong_argument_is_no_launch(text: str, rule: str) -> None:
    source = 'code = r"""\nvoid f(int* x) {\n    cudaMemcpy(x, x, 0, kind);\n    k<<<n, 256>>>(x);\n}\n"""\n'
    message = "CUDA error: invalid argument"
    finding = Finding("empty", Status.CUDA_ERROR, message, evidence={"text": message + text})
    found = attach.explained(finding, source).evidence["explanation"]
    assert isinstance(found, dict) and found["rule"] == rule
    assert text or "launch's sizes" not in str(found)
