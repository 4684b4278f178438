"""Facts that name one place and not another: shared arrays, transposed stores, streams, launches, tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from grader.backends.simt.compile.warnings import Warned
from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach, explain, facts, warned

if TYPE_CHECKING:
    from grader.feedback.explain.engine import Explanation


def told(
    source: str, status: Status, message: str = "wrong", name: str = "a case", **evidence: Any
) -> Explanation:
    explanation = facts.explained(Finding(name, status, message, evidence=evidence), source)
    assert explanation is not None
    return explanation


def cuda(*lines: str) -> str:
    """A file whose C++ begins in line 2."""
    return 'source = r"""\n' + "\n".join(lines) + '\n"""\n'


def outside(number: int, line: int, thread: int, size: int = 256) -> dict[str, Any]:
    where = "past its end" if number >= 0 else "before it"
    return {
        "kind": "shared-out-of-bounds", "kernel": "k", "line": line, "thread": [thread, 0, 0], "access": "read",
        "what": f"reads element {number} of tile ({size} bytes of shared memory), 4 bytes {where}",
    }  # fmt: skip


TILE = ("__global__ void k(const float* x, float* out, int n) {", "  __shared__ float tile[64];")


@pytest.mark.parametrize(
    ("access", "seen", "rule", "line", "says"),
    [
        # a thread without a neighbour: the array is as large as the block, and right
        ("const int t = threadIdx.x; out[t] = tile[t + 1];", outside(64, 4, 63), "no-neighbour", 4, "t + 1 < 64"),
        ("out[0] = tile[threadIdx.x - 2];", outside(-2, 4, 0), "no-neighbour", 4, "threadIdx.x >= 2"),
        # the same access of another element than this thread's: nothing is sure
        ("const int t = threadIdx.x; out[t] = tile[t + 1];", outside(70, 4, 63), "array-too-small", 3, "line 4"),
        ("out[0] = tile[2 * threadIdx.x];", outside(64, 4, 32), "array-too-small", 3, "or the array is too small"),
        ("out[0] = tile[n - 9];", outside(-1, 4, 0), "shared-below-zero", 4, "below 0"),
        # the thread's own number, and an element that the kernel does fill: the array is too small
        ("out[0] = tile[threadIdx.x];", outside(64, 4, 64), "shared-too-small", 3, "is smaller than"),
        ("if (n) tile[64] = 0; const int t = threadIdx.x; out[t] = tile[t + 1];", outside(64, 4, 63),
         "shared-too-small", 3, "is smaller than"),
    ],
)  # fmt: skip
def test_an_array_is_called_too_small_only_where_it_is(
    access: str, seen: dict[str, Any], rule: str, line: int, says: str
) -> None:
    explanation = told(cuda(*TILE, access, "}"), Status.ILLEGAL_ACCESS, seen=[seen])
    assert (explanation.rule, explanation.line) == (rule, line)
    assert says in f"{explanation.cause} {explanation.fix}"


@pytest.mark.parametrize(
    ("kernel", "read", "fix"),
    [
        ("transpose_kernel", "in[row * n + col]", "Write `out[col * rows + row]`."),
        ("turn", "in[row * n + col]", "If out lies as in does, its index is `row * n + col`"),
        ("transpose_kernel", "in[0]", "In the transposed matrix that element is column * rows + row."),
    ],
)
def test_the_row_length_of_a_transposed_matrix(kernel: str, read: str, fix: str) -> None:
    source = cuda(
        f"__global__ void {kernel}(const float* in, float* out, int rows, int n) {{",
        "  const int row = blockIdx.x, col = threadIdx.x;",
        f"  if (row < rows) out[row * rows + col] = {read};",
        "}",
    )
    seen = [{"kind": "global-race", "kernel": kernel, "line": 4}]
    explanation = told(source, Status.RACE, seen=seen)
    assert explanation.line == 4 and fix in explanation.fix


@pytest.mark.parametrize(
    ("store", "says"),
    [
        ("out[i] = pow(x[i], 2);", "pow computes in double, which holds every whole number up to 2**53"),
        ("out[i] = powf(x[i], 2);", "powf computes in float, which holds every whole number up to 2**24"),
        ("out[i] = (double)x[i] * x[i];", "2**53"),
        ("const float v = x[i]; out[i] = v * v;", "2**24"),
    ],
)
def test_whole_numbers_of_64_bits_that_went_through_a_float(store: str, says: str) -> None:
    lines = (
        "__global__ void k(const int* x, int64_t* out, int n) {",
        "  const int i = blockIdx.x * blockDim.x + threadIdx.x;",
        store,
        "}",
    )
    explanation = told(cuda(*lines), Status.WRONG_OUTPUT)
    assert (explanation.rule, explanation.line) == ("through-float", 4) and says in explanation.cause
    right = cuda(*lines).replace(store, "if (i < n) out[i] = static_cast<int64_t>(x[i]) * x[i];")
    found = facts.explained(Finding("a case", Status.WRONG_OUTPUT, "wrong"), right)
    assert found is None or found.rule != "through-float"


@pytest.mark.parametrize(
    ("kind", "guard", "number", "fix"),
    [
        ("empty-body", "    if (i >= n);\n    x[i] = 1;", 2, "To leave there, write `if (i >= n) return;`."),
        ("empty-body", "    if (i >= n);\n        x[i] = 1;", 2, "Remove the semicolon"),
        ("empty-body", "    if (i < n);\n    { x[i] = 1; }", 2, "Remove the semicolon"),
        ("unused-value", "    if (i >= n) { i; }\n    x[i] = 1;", 2, "To leave there, write `if (i >= n) return;`."),
        ("unused-value", "    if (i >= n) {\n        i;\n    }", 3, "To leave there, write `if (i >= n) return;`."),
        ("unused-value", "    if (i < n) i + 1;", 2, "Store it"),
    ],
)  # fmt: skip
def test_a_guard_whose_statement_is_nothing(kind: str, guard: str, number: int, fix: str) -> None:
    source = f"__global__ void k(float* x, int n) {{\n{guard}\n}}\n"
    said = warned.explained([Warned(kind, "a warning", "a.py", number)], source)
    assert said is not None and fix in said.fix


def test_a_name_of_a_function_alone_is_told_to_be_called() -> None:
    source = (
        "__global__ void k(float* out) {\n    __syncthreads;\n    out[0] + 1;\n}\nfloat f() {\n    1.0f;\n}"
    )
    said = [
        warned.explained([Warned("unused-value", "statement has no effect", "a.py", line)], source)
        for line in (2, 3, 6)
    ]
    assert said[0] is not None and said[0].fix == "Write `__syncthreads();`."
    assert said[1] is not None and said[1].fix == "Store it: `out[i] = ...;`."  # a kernel returns nothing
    assert said[2] is not None and "return" in said[2].fix


STREAMS = (
    "void run(torch::Tensor x) {",
    "  auto stream = at::cuda::getCurrentCUDAStream();",
    "  wide<<<blocks, 256, 0, stream>>>(x.data_ptr<float>());",
    "  one<<<blocks, 128>>>(x.data_ptr<float>());",
    "}",
)


def test_a_stream_of_its_own() -> None:
    source = cuda(*STREAMS).replace("128>>>", "128, 0, at::cuda::getStreamFromPool()>>>")
    explanation = told(source, Status.WRONG_STREAM, line=5, own=True)
    assert (explanation.rule, explanation.fix) == (
        "own-stream",
        "Write `<<<blocks, 128, 0, stream>>>`, as in line 4.",
    )


@pytest.mark.parametrize(
    ("line", "old", "new", "fix"),
    [
        (5, "", "", "Write `<<<blocks, 128, 0, stream>>>`, as in line 4."),
        (5, "128>>>", "128, 64, 0>>>", "Write `<<<blocks, 128, 64, stream>>>`, as in line 4."),
        (5, "auto stream = at::cuda::getCurrentCUDAStream();", "cudaStream_t stream = 0;",
         "Write `<<<blocks, 128, 0, at::cuda::getCurrentCUDAStream()>>>`."),
    ],
)  # fmt: skip
def test_a_launch_beside_one_that_has_a_stream(line: int, old: str, new: str, fix: str) -> None:
    source = cuda(*STREAMS).replace(old, new, 1) if old else cuda(*STREAMS)
    explanation = told(source, Status.WRONG_STREAM, line=line)
    assert (explanation.rule, explanation.line, explanation.fix) == ("default-stream", line, fix)


@pytest.mark.parametrize(
    ("made", "name"),
    [
        ("cudaStream_t stream = 0;", "stream"),
        ("auto stream = at::cuda::getDefaultCUDAStream();", "stream"),
        ("cudaStream_t stream = c10::cuda::getDefaultCUDAStream().stream();", "stream"),
        ("auto stream(at::cuda::getDefaultCUDAStream());", "stream"),
        ("auto usual = at::cuda::getDefaultCUDAStream(); auto stream = usual;", "usual"),
        ("auto stream = at::cuda::getStreamFromPool();", ""),
    ],
)
def test_a_stream_that_is_the_default_one(made: str, name: str) -> None:
    source = cuda(*STREAMS).replace("auto stream = at::cuda::getCurrentCUDAStream();", made)
    finding = Finding("streams", Status.WRONG_STREAM, "", evidence={"line": 4})
    found = attach.explained(finding, source).evidence.get("explanation")
    if not name:
        assert found is None
        return
    assert isinstance(found, dict) and found["line"] == 3
    assert found["fix"] == f"Write `{name} = at::cuda::getCurrentCUDAStream();`."
    assert "The launch in line 4 uses it" in str(found["cause"])


def test_columns_in_floats_for_a_kernel_of_float4() -> None:
    source = cuda(
        "__global__ void k(const float4* x, const float4* bias, float4* out, int64_t n, int64_t cols) {",
        "  const int64_t i = threadIdx.x;",
        "  if (i < n) out[i] = bias[i % cols];",
        "}",
        "void run(torch::Tensor x) {",
        "  const int64_t n = x.numel(), width = x.size(-1);",
        "  k<<<1, 32>>>(a, b, c, n / 4,",
        "    width);",
        "}",
    )
    explanation = told(source, Status.ILLEGAL_ACCESS)
    assert (explanation.rule, explanation.line) == ("row-in-floats", 9)
    assert explanation.fix == "Hand over `width / 4`."


def test_a_launch_with_its_two_numbers_exchanged_is_told_of_counts_and_of_refusals() -> None:
    source = cuda("void run(float* x) {", "  k<<<THREADS, blocks>>>(x);", "}")
    assert told(source, Status.FAILED).line == 3
    finding = Finding("a case", Status.CUDA_ERROR, "CUDA error: invalid configuration argument")
    explanation = attach.explained(finding, source).evidence["explanation"]
    assert explanation["line"] == 3 and "<<<blocks, THREADS>>>" in explanation["fix"]


HOST = """import torch
cuda_source = r\"\"\"
float one(float x) {
    return x;
}
__global__ void k(const float* x, float4* out, int64_t n) { out[0].x = one(x[0]); }
torch::Tensor run(torch::Tensor x) {
    k<<<1, 1>>>(
        x.data_ptr<float>(),
        x.data_ptr<float>(), 1);
    return x;
}
\"\"\"
extension = load_inline(
    name="a",
    cpp_sources="torch::Tensor run(torch::Tensor x);",
    cuda_sources=cuda_source,
    functions=["run"],
)
"""


def compiled(text: str, source: str = HOST) -> dict[str, Any]:
    finding = Finding("load", Status.COMPILE_ERROR, text, evidence={"log": text})
    explanation = attach.explained(finding, source).evidence["explanation"]
    assert isinstance(explanation, dict)
    return explanation


def test_device_is_missing_where_the_function_is_defined() -> None:
    for name in ("one", "one(float)"):
        text = f"mine.py:6:1: error: calling a __host__ function('{name}') from a __global__ function('k') is not allowed"
        said = compiled(text)
        assert (
            said["line"] == 3
            and "in line 6" in said["cause"]
            and "`__device__ float one(...)`" in said["fix"]
        )
    said = compiled(text.replace("one(float)", "run"))
    assert "__device__" not in said["fix"] and "no tensors" in said["fix"]


def test_a_pointer_of_another_width_is_told_with_its_cast_and_its_line() -> None:
    text = (
        "mine.py:8:1: error: the kernel takes (const float*, float4*, long int) but is launched with "
        "(float*, double*, long int)"
    )
    said = compiled(text)
    assert "must be the same" in said["fix"]
    said = compiled(text.replace("(float*, double*", "(const float*, float*"))
    assert "`reinterpret_cast<float4*>(x.data_ptr<float>())`" in said["fix"] and said["line"] == 9


def test_a_kernel_in_functions_is_no_matter_of_declarations() -> None:
    source = HOST.replace('functions=["run"]', 'functions=["k"]')
    said = compiled("bindings:2:1: error: 'k' was not declared in this scope", source)
    assert "k is a kernel" in said["cause"] and said["fix"] == 'Write `"run"` in its place.'
    both = HOST.replace('functions=["run"]', 'functions=["run", "k"]')
    said = compiled("bindings:2:1: error: 'k' was not declared in this scope", both)
    assert said["fix"] == "Take it out of the list."


@pytest.mark.parametrize("declared", ['"torch::Tensor run(torch::Tensor x)"', '["""\ntorch::Tensor run(\n  torch::Tensor x)\n"""]'])  # fmt: skip
def test_a_declaration_without_a_semicolon(declared: str) -> None:
    source = HOST.replace('"torch::Tensor run(torch::Tensor x);"', declared)
    text = "bindings:1:1: error: expected initializer before 'extern'"
    said = compiled(text, source)
    assert "ends without a semicolon" in said["cause"] and "torch::Tensor x)" in said["code"]
    finding = Finding("load", Status.COMPILE_ERROR, text, evidence={"log": text})
    assert "semicolon" not in str(attach.explained(finding, HOST).evidence.get("explanation"))


def test_arguments_that_are_exchanged() -> None:
    form = "run(): incompatible function arguments. The following argument types are supported:\n    1. (arg0: {}, arg1: {}) -> None\n\nInvoked with: {}"
    asked = "torch.Tensor", "typing.SupportsFloat"
    for given, fix in (
        ("2.0, tensor([1.0])", "Exchange the arguments 1 and 2."),
        ("[1.0], 2.0", "A list is not a tensor"),
        ("'a', 2.0", "Compare the call with the C++ function's parameters, one by one and in order."),
        ("tensor([1.0])", "C++ function's parameters, one by one."),
    ):
        explanation = explain(f"TypeError: {form.format(*asked, given)}", "")
        assert explanation is not None and fix in explanation.fix


def test_a_function_that_the_module_alone_has() -> None:
    message = "The file defines no run, which the grader asks for."
    explanation = told(HOST, Status.MISSING_ENTRY, message)
    assert explanation.line == 14 and "`run = extension.run`" in explanation.fix
    other = message.replace("run", "other")
    assert facts.explained(Finding("a case", Status.MISSING_ENTRY, other), HOST) is None


MODEL = """from torch import nn
class ModelNew(nn.Module):
    def __init__(self):
        self.gemm = nn.Linear(3, 4, bias=False)
"""


def test_a_layer_whose_bias_was_left_out() -> None:
    message = "ModelNew has no parameter like the reference's {} [4], neither"
    assert told(MODEL, Status.MISSING_ENTRY, message.format("gemm.bias")).fix == "Leave out `bias=False`."
    assert "bias=False" not in told(MODEL, Status.MISSING_ENTRY, message.format("gemm.weight")).fix


TESTS = """TESTS = {
    "reverse": (lambda x: x.flip(0), torch.randn(200)),
    "offset": (lambda x: x, [torch.randn(200)]),
    "squares": (lambda x: x * x, [torch.randint(-9, 9, (200,))]),
    "floats": (lambda x: x * x, [torch.randn(9)]),
}
"""
REFUSED = (
    "Line 2: The test fails on a right kernel: KernelError: RuntimeError: k: x must be a CUDA tensor of torch.{} with 1 "
    "dimension; this one is of {} with {}."
)


@pytest.mark.parametrize(
    ("name", "asked", "line", "fix"),
    [
        ("reverse", ("float32", "Float", 0), 2, "`[torch.randn(200)]`"),
        ("squares", ("int32", "Long", 1), 4, "`dtype=torch.int32`"),
        ("floats", ("int32", "Float", 1), 5, "torch.randint(low, high, size, dtype=torch.int32)"),
    ],
)
def test_inputs_of_a_test(name: str, asked: tuple[str, str, int], line: int, fix: str) -> None:
    explanation = told(TESTS, Status.WRONG_ANSWER, REFUSED.format(*asked), f"test of {name}")
    assert explanation.line == line and fix in explanation.fix


def test_inputs_of_a_test_that_are_right_are_not_blamed() -> None:
    finding = Finding("test of offset", Status.WRONG_ANSWER, REFUSED.format("float32", "Float", 1))
    assert facts.explained(finding, TESTS) is None


def test_a_tolerance_that_nobody_gave() -> None:
    source = "def test(kernel):\n    z = 1\n    assert torch.allclose(kernel(z), z)\n"
    message = "Line 2: It passes on a kernel that is off by 5e-6. Which tolerance would show that?"
    explanation = told(source, Status.WRONG_ANSWER, message)
    assert explanation.line == 3 and "1e-5" in explanation.cause
    # One place is enough, that of the cause, which answers the question, too.
    finding = attach.explained(Finding("a case", Status.WRONG_ANSWER, message), source)
    assert finding.message == "It passes on a kernel that is off by 5e-6."
    given = source.replace("z)\n", "z, rtol=1e-6)\n")
    assert facts.explained(Finding("a case", Status.WRONG_ANSWER, message), given) is None


@pytest.mark.parametrize(
    "read, fix", [("i < n ? x[i + 1] : 0", "i + 1 < n"), ("i + 1 < n ? x[i + 1] : 0", "")]
)
def test_a_condition_that_asks_for_another_element_than_is_read(read: str, fix: str) -> None:
    source = cuda("__global__ void k(const float* x, float* out, int n) {", f"out[i] = {read};", "}")
    found = facts.explained(Finding("memory", Status.ILLEGAL_ACCESS, "reads element 128 of x"), source)
    assert bool(found and found.rule == "guard-of-another") == bool(fix)
    assert not fix or (found and f"`{fix}`" in found.fix)


def test_one_thread_too_many_or_one_turn() -> None:
    index = "const int i = blockIdx.x * blockDim.x + threadIdx.x;"
    guard = cuda("__global__ void k(float* out, int n) {", index, "if (i > n) return;", "out[i] = 1;", "}")
    assert "one thread too many" in told(guard, Status.ILLEGAL_ACCESS).cause
    for both, right in (
        ("r > rows || c > cols", "r >= rows || c >= cols"),
        ("r > rows || c >= cols", "r >= rows"),
    ):
        two = cuda(
            "__global__ void k(float* out, int rows, int cols) {",
            f"if ({both}) return;",
            "out[r * cols + c] = 1;",
            "}",
        )
        assert told(two, Status.ILLEGAL_ACCESS).fix == f"Write `{right}`."
    loop = cuda(
        "__global__ void k(float* out, int n) {",
        "for (int i = threadIdx.x; i <= n; i += blockDim.x) {",
        "out[i] = blockIdx.x;",
        "}",
        "}",
    )
    assert "one turn too many" in told(loop, Status.ILLEGAL_ACCESS).cause


@pytest.mark.parametrize(
    ("before", "after", "looped"),
    [
        ("{", "}", False),
        ("for (int k = 0; k < n; ++k) {", "}", True),
        ("while (n) {", "}", True),
        ("do {", "} while (n);", True),
        ("for (int k = 0; k < n; ++k) n += k;", "", False),
    ],
)
def test_a_barrier_at_the_end_of_a_loop_is_advised_where_there_is_one(
    before: str, after: str, looped: bool
) -> None:
    source = cuda(
        *TILE, before, "tile[threadIdx.x] = x[blockIdx.x];", "out[0] = tile[threadIdx.x + 1];", after, "}"
    )
    seen = {
        "kind": "shared-race", "kernel": "k", "line": 5, "access": "write", "other": {"line": 6, "access": "read"},
        "what": "writes element 1 of tile (256 bytes of shared memory)",
    }  # fmt: skip
    fix = told(source, Status.RACE, seen=[seen]).fix
    assert fix.startswith("Put `__syncthreads();` between the two")
    assert ("loop" in fix) is looped


WRITES, READS = "tile[threadIdx.x] = x[blockIdx.x];", "out[0] = tile[threadIdx.x + 1];"


@pytest.mark.parametrize(
    ("lines", "fix"),
    [
        (("__syncthreads();", WRITES, READS), "of line 4 stands before both: move it between"),
        ((WRITES, READS, "__syncthreads();"), "of line 6 stands behind both: move it between"),
        ((WRITES, READS, ""), "Put `__syncthreads();` between the two"),
        ((WRITES, "__syncthreads();", WRITES, READS), "Put `__syncthreads();` between the two"),
        (("__syncthreads();", WRITES, READS, "__syncthreads();"), "Put `__syncthreads();` between the two"),
    ],
)
def test_a_barrier_that_separates_nothing_is_the_one_to_move(lines: tuple[str, ...], fix: str) -> None:
    source = cuda(*TILE, *lines, "}")
    begun = source[: source.index(READS)].count("\n") + 1
    seen = {
        "kind": "shared-race", "kernel": "k", "line": begun, "access": "read",
        "other": {"line": begun - 1, "access": "write"}, "what": "reads element 1 of tile (256 bytes of shared memory)",
    }  # fmt: skip
    assert fix in told(source, Status.RACE, seen=[seen]).fix


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("__syncthread", "Write `__syncthreads();`."),
        ("syncthreads", "Two underscores stand before it, `__syncthreads();`."),
    ],
)
def test_underscores_are_spoken_of_where_they_are_missing(name: str, fix: str) -> None:
    found = explain(f"a.py:13:5: error: '{name}' was not declared in this scope")
    assert found is not None and found.fix == fix


def test_a_declaration_that_nothing_defines_is_shown_beside_the_definition_of_its_name() -> None:
    source = (
        'source = r"""\ntorch::Tensor f(torch::Tensor x, double scale) {\n    return x;\n}\n"""\n'
        'm = load_inline("m", cpp_sources="torch::Tensor f(torch::Tensor x, float scale);", cuda_sources=source)\n'
    )
    error = "ImportError: extension 'm' was built, but f(at::Tensor, float) is declared and never defined"
    found = explain(error, source)
    assert found is not None and found.line == 6
    assert "Line 2 has a function of that name, with `(torch::Tensor x, double scale)`." in found.cause
    without = explain(
        error, source.replace("Tensor f(torch::Tensor x, double", "Tensor g(torch::Tensor x, double")
    )
    assert without is not None and "of that name" not in without.cause


def test_a_sentence_behind_a_place_begins_with_a_capital_and_advice_is_given_once() -> None:
    source = "def f(x):\n    for i in range(3):\n        prof.step\n"
    advice = "Launch it elsewhere."
    for message, left in (
        ("Line 2: nothing calls `step()`.", "Nothing calls `step()`."),
        ("Line 2: f(3) is None.", "f(3) is None."),
        (f"The work stays. {advice}", "The work stays."),
    ):
        finding = Finding("a", Status.WRONG_ANSWER, message, evidence={"advice": advice})
        explained = attach.explained(finding, source)
        assert "explanation" in explained.evidence and explained.message == left


@pytest.mark.parametrize(("before", "after"), [("{", "}"), ("while (n) {", "}")])
def test_one_line_whose_threads_write_one_element_needs_no_barrier_but_one_writer(
    before: str, after: str
) -> None:
    """In a loop it may be one thread's element of another turn, which a barrier keeps apart."""
    source = cuda(*TILE, before, "tile[threadIdx.x / 32] = x[blockIdx.x];", after, "}")
    seen = {
        "kind": "shared-race", "kernel": "k", "line": 5, "access": "write", "other": {"line": 5, "access": "write"},
        "what": "writes element 1 of tile (256 bytes of shared memory)",
    }  # fmt: skip
    fix = told(source, Status.RACE, seen=[seen]).fix
    assert fix.startswith("Let one of them write") is (before == "{")


def test_where_the_barriers_stand_between_both_lines_the_next_turn_is_named() -> None:
    loop = ("for (int k = 0; k < 4; ++k) {", "tile[threadIdx.x] = x[blockIdx.x];", "__syncthreads();",
            "out[k] = tile[0];")  # fmt: skip
    seen = {
        "kind": "shared-race", "kernel": "k", "line": 7, "access": "read", "other": {"line": 5, "access": "write"},
        "what": "reads element 0 of tile (256 bytes of shared memory)",
    }  # fmt: skip
    explanation = told(cuda(*TILE, *loop, "}", "}"), Status.RACE, seen=[seen])
    assert explanation.line == 7
    assert "keeps them apart within a turn; between line 7 and the next turn's line 5" in explanation.cause
    assert explanation.fix.startswith(
        "Put another `__syncthreads();` at the end of the loop that begins in line 4"
    )
    twice = cuda(*TILE, *loop, "__syncthreads();", "}", "}")
    assert "next turn's line" not in told(twice, Status.RACE, seen=[seen]).cause


def test_a_launch_without_blocks_is_a_quotient_that_was_rounded_down() -> None:
    launch = (
        "void run(int n) {",
        "dim3 block(8, 8), grid(n / 8, (n + 7) / 8);",
        "k<<<grid, block>>>(0, 0, n);",
        "}",
    )
    refused = Finding("one row", Status.CUDA_ERROR, "CUDA error: invalid configuration argument")
    source = cuda(*TILE, "}", *launch)
    found = attach.explained(refused, source).evidence["explanation"]
    assert (found["rule"], found["line"]) == ("grid-rounded-down", 6)
    assert "rounds down" in found["cause"]
    up = attach.explained(refused, source.replace("n / 8,", "(n + 7) / 8,")).evidence["explanation"]
    assert up["rule"] == "launch-invalid"


def test_a_refused_launch_of_a_template_is_explained_by_what_was_refused() -> None:
    """The CPU back end says it below CUDA's own text; the kernel's name may hold brackets of its own."""
    launch = ("void run(int n) {", "k<float, at::opmath_type<float>><<<n, 256>>>(0, 0, n);", "}")
    text = "CUDA error: invalid argument\nk<float, at::opmath_type<float>><<<(0, 1, 1), (256, 1, 1), 0>>>: the grid is empty"
    refused = Finding("empty", Status.CUDA_ERROR, "CUDA error: invalid argument", evidence={"text": text})
    found = attach.explained(refused, cuda(*TILE, "}", *launch)).evidence["explanation"]
    assert (found["rule"], found["line"]) == ("empty-grid", 6)
