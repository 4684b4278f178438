"""Facts about formulas, dialects and operators: found at their line, and never in a file that is right."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.domain.lessons import every
from grader.domain.task import Case, Task, Tensor
from grader.domain.verdict import Finding, Status, Verdict
from grader.feedback.explain import (
    added_to_nothing,
    alignment,
    around_the_call,
    attach,
    block_slips,
    bodies,
    branch_slips,
    caught_failures,
    ceilings,
    claim_numbers,
    claim_slips,
    declared_otherwise,
    dialect_mistakes,
    exchanged_arguments,
    exponentials,
    facts,
    formula_slips,
    formulas,
    functions_first,
    grid_dimensions,
    host_formulas,
    host_mistakes,
    host_slips,
    indices,
    joined_texts,
    lost_fractions,
    operator_mistakes,
    precedence,
    product_tiles,
    python_habits,
    recording_slips,
    row_starts,
    running_totals,
    short_ranges,
    taken_early,
    tensor_calls,
    tile_ends,
    tile_fills,
    tile_mistakes,
    together,
    turned_operands,
    weaker_signs,
    whole_division,
    wrong_bounds,
)
from grader.feedback.explain.source_text import Finder, read

HONEST = sorted((Path(__file__).parents[2] / "corpus" / "honest").glob("*.py"))
RIGHT = [s for one in every() for s in one.solution.parent.rglob("*.py")] + HONEST
FINDERS = [
    find
    for find, _ in (
        *formulas.FACTS,
        *alignment.FACTS,
        *dialect_mistakes.FACTS,
        *operator_mistakes.FACTS,
        *host_mistakes.FACTS,
        *indices.FACTS,
        *together.FACTS,
        *bodies.FACTS,
        *tile_mistakes.FACTS,
        *product_tiles.FACTS,
        *exponentials.FACTS,
        *running_totals.FACTS,
        *grid_dimensions.FACTS,
        *declared_otherwise.FACTS,
        *exchanged_arguments.FACTS,
        *lost_fractions.FACTS,
        *precedence.FACTS,
        *weaker_signs.FACTS,
        *ceilings.FACTS,
        *short_ranges.FACTS,
        *tensor_calls.FACTS,
        *joined_texts.FACTS,
        *added_to_nothing.FACTS,
        *turned_operands.FACTS,
        *wrong_bounds.FACTS,
        *around_the_call.FACTS,
        *row_starts.FACTS,
        *taken_early.FACTS,
        *tile_fills.FACTS,
        *tile_ends.FACTS,
        *claim_numbers.FACTS,
        *claim_slips.FACTS,
        *recording_slips.FACTS,
        *formula_slips.FACTS,
        *host_slips.FACTS,
        *python_habits.FACTS,
        *branch_slips.FACTS,
        *block_slips.FACTS,
        *caught_failures.FACTS,
    )
]
FINDERS += [host_mistakes.never_called, functions_first.returned, host_formulas.single]
FINDERS += [whole_division.rounded_up_late]
# As alarming as a message can be: whatever is asked for in a message's words is asked for here.
MESSAGES = (
    "This case: nan, transposed, empty, every other.",
    "triton: reads element 7 of x, which has 7: past the end.",
    "numba: writes element 7 of x, past the end.",
    "autocast: no autograd formula, no fake.",
)
KERNEL = "__global__ void k(const float* x, float* out, float scale, int n) {{\n{}\n}}\n"


def failed(message: str, status: Status = Status.WRONG_OUTPUT, **evidence: Any) -> Finding:
    return Finding("a case", status, message, evidence=evidence)


def found(source: str, finding: Finding, finders: list[Finder]) -> list[tuple[str, int]]:
    text = read(source).about(set(), finding.id)
    return [(fact.rule, fact.line) for find in finders for fact in find(text, finding)]


@pytest.mark.thorough
@pytest.mark.slow
def test_nothing_is_found_in_files_that_are_right() -> None:
    said = {
        f"{path.parent.name}/{path.name}:{fact.line}: {fact.cause}"
        for path in RIGHT
        for text in [read(path.read_text("utf-8")).about(set(), "a case")]
        for message in (MESSAGES[:-1] if path in HONEST else MESSAGES)  # those are asked for no derivative
        for find in FINDERS
        for fact in find(text, failed(message))
    }
    assert said == set()


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("if (i < n / 4) out[i] = scale * x[i];", "tail-forgotten"),
        ("if (i < n / 4) out[i] = scale * x[i]; if (i < n % 4) out[n - 1 - i] = 0;", ""),
        ("if (i < n / 4) out[i] = scale * x[i]; for (int k = n & ~3; k < n; ++k) out[k] = 0;", ""),
        ("if (i < n / 4) out[i] = scale * x[i]; if (i == n / 4) out[4 * i] = 0;", ""),
        ("out[i] = scale / (1 + expf(x[i])); if (i < n) i = 0;", ""),
        ("const float v = x[i]; out[i] = scale / (1.0f + expf(v)); n += 0;", "sigmoid-sign"),
        ("const float v = x[i]; out[i] = scale / (1.0f + expf(-v)); n += 0;", ""),
        ("const float v = x[i]; out[i] = scale * expf(v) / (1.0f + expf(v)); n += 0;", ""),
        (
            "const float v = x[i]; out[i] = 1.0f / (1.0f + expf(-v * scale)) + v; n += 0;",
            "factor-in-exponent",
        ),
        ("const float v = x[i]; out[i] = 1 / (1 + expf(-(scale * v))); n += 0;", "factor-in-exponent"),
        ("const float v = x[i]; out[i] = scale / (1.0f + expf(-v * scale)) + v; n += 0;", ""),
        ("const float v = x[i]; out[i] = 1.0f / (1.0f + expf(-v * n)) * scale;", ""),
        ("const float v = x[i]; out[i] = 1.0f / (1.0f + expf(-v)) + scale * v;", "factor-of-the-residual"),
        ("out[i] = x[i] * scale + 1.0f / (1.0f + expf(-x[i]));", "factor-of-the-residual"),
        ("const float s = 1 / (1 + expf(-x[i])); out[i] = s + scale * x[i];", "factor-of-the-residual"),
        ("const float s = 1 / (1 + expf(-x[i])); out[i] = s * scale + x[i];", ""),
        ("out[i] = 1.0f / (1.0f + expf(-x[i])) + scale * x[n];", ""),
        ("out[i] = scale * 1.0f / (1.0f + expf(-x[i])) + scale * x[i];", ""),
        ("out[n] = 1 / 2 * x[0] * scale;", "whole-number"),
        ("out[n] = 4 / 2 * x[0] * scale;", ""),
        ("out[n] = int(expf(x[0])) * scale;", "whole-number"),
        ("out[n] = x[0];", "unused-parameter"),
        ("float sum; for (int k = 0; k < n; ++k) sum += x[k]; out[0] = sum * scale;", "not-begun"),
        ("float sum = 0; for (int k = 0; k < n; ++k) sum += x[k]; out[0] = sum * scale;", ""),
        ("float v; if (n) v = x[0]; else v = 0; v += 1; out[0] = v * scale;", ""),
    ],
)
def test_a_formula_is_found_in_its_line(line: str, rule: str) -> None:
    source = f'source = r"""\n{KERNEL.format(line)}"""\n'
    finders = [find for find, _ in formulas.FACTS]
    at = 2 if rule == "unused-parameter" else 3
    assert found(source, failed("wrong"), finders) == ([(rule, at)] if rule else [])


def test_a_kernel_called_like_a_function_and_rows_for_elements() -> None:
    host = (
        "void f(torch::Tensor x) {\n    const int n = x.size(0), b = 1;\n"
        "    k(x.data_ptr<float>(), 0, 1, n);\n}\n"
    )
    source = f'source = r"""\n{KERNEL.format("out[n] = x[0] * scale;")}{host}"""\n'
    assert found(source, failed("wrong"), [formulas.plain_call]) == [("plain-call", 7)]
    text = source.replace("    const int n", "    dim3 grid(1), block(32);\n    const int n")
    for include, stream in (
        ("", ""),
        ("#include <ATen/cuda/CUDAContext.h>\n", ", 0, at::cuda::getCurrentCUDAStream()"),
    ):
        read_text = read(text.replace('r"""\n', f'r"""\n{include}', 1))
        (fact,) = formulas.plain_call(read_text, failed("wrong"))
        assert fact.fix == f"Write `k<<<grid, block{stream}>>>(...)`."
    finders = [find for find, _ in formulas.FACTS]
    assert found(source, failed("wrong"), finders) == [("rows-for-elements", 6)]
    assert found(source.replace(", b", " * x.size(1), b"), failed("wrong"), finders) == []


def test_the_line_that_made_a_wrong_element_is_that_of_the_function_it_calls() -> None:
    device = "__device__ float one(float v, float s) {\n    return s * v;\n}\n"
    source = f'source = r"""\n{device}{KERNEL.format("out[n] = one(x[n], scale);")}"""\n'
    finding = failed("wrong", owner={"kernel": "k", "line": 6, "access": "write"})
    explanation = facts.explained(finding, source)
    assert (
        explanation is not None and explanation.line == 3 and "`s * v`; line 6 writes it" in explanation.cause
    )


def test_a_grid_of_whole_groups_lacks_a_thread_or_a_block_for_the_rest() -> None:
    after, first = "if (i == n / 4) out[n - 1] = 0;", "if (i < n % 4) out[n - 1 - i] = 0;"
    thread = "with 1025 elements it has no thread after the last group."
    for rest, blocks, lacks in (
        (after, "max(1, (n * m / 4 + 255) / 256)", thread),
        (after, "(n * m / 4 + 255) / 256", thread),
        (first, "(n * m / 4 + 255) / 256", "with fewer than 4 elements it has no block."),
        (first, "max(1, (n * m / 4 + 255) / 256)", ""),
        (after, "(n * m / 4 + 255) / 256 + 1", ""),
        (after, "(n * m / 4 + 256) / 256", ""),
        (after, "(n * m + 1023) / 1024", ""),
    ):
        kernel = KERNEL.format(f"if (i < n / 4) out[i] = scale * x[i]; {rest}")
        host = f"void f(torch::Tensor x) {{\n    const int blocks = {blocks};\n}}\n"
        text = read(f'source = r"""\n{kernel}{host}"""\n').about(set(), "a case")
        said = [(f.line, f.cause, f.fix) for find, _ in formulas.FACTS for f in find(text, failed(""))]
        cause = "`n * m / 4` counts whole groups of 4, and the grid is rounded up from these alone: "
        assert said == ([(6, cause + lacks, "Write `(n * m + 1023) / 1024`.")] if lacks else []), blocks
    # What the causes say, and that the advice is right.
    assert (1025 // 4 + 255) // 256 * 256 == 1025 // 4 and (3 // 4 + 255) // 256 == 0
    assert all(-(-n // 1024) * 256 > n // 4 for n in range(1, 9000) if n % 4)


TRITON = """@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, 1 / (1 + tl.exp(-v)), mask=i < n)


def host(x, out):
    x = x.contiguous()
    kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
"""
NUMBA = """@cuda.jit
def kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = math.exp(x[i])


def host(x, out):
    kernel[triton.cdiv(x.numel(), 256), 256](x, out)
"""


@pytest.mark.parametrize(
    ("source", "old", "new", "message", "expected"),
    [
        (TRITON, "tl.program_id(0) * BLOCK + ", "", "wrong", ("no-program-id", 3)),
        (TRITON, "tl.program_id(0) * BLOCK + ", "tl.program_id(0) + ", "wrong", ("program-without-factor", 3)),
        (TRITON, "tl.load(x + i, mask=i < n)", "tl.load(x + i)", "reads element 7, past the end", ("no-mask", 4)),
        (TRITON, ", mask=i < n)\n\n", ")\n\n", "writes element 7, past the end", ("no-mask", 5)),
        (TRITON, "x + i, mask=i < n", "x + i, mask=i <= n", "reads element 7, past the end", ("mask-one-too-far", 4)),
        (TRITON, "BLOCK: tl.constexpr", "BLOCK", "must be of type tl.constexpr", ("not-constexpr", 2)),
        (TRITON, "tl.exp", "math.exp", "TypeError", ("not-triton", 5)),
        (TRITON, "tl.load(x + i, mask=i < n)", "x[i]", "TypeError", ("pointer-in-brackets", 4)),
        (TRITON, "tl.exp(-v)", "tl.exp(v)", "wrong", ("sigmoid-sign", 5)),
        (TRITON, "triton.cdiv(x.numel(), 256)", "x.numel() // 256", "wrong", ("grid-rounded-down", 10)),
        (TRITON, "    x = x.contiguous()\n", "", "A view with gaps.", ("not-contiguous", 9)),
        (NUMBA, "    if i < x.size:\n        out", "    out", "past the end", ("no-guard", 4)),
        (NUMBA, "cuda.grid(1)", "cuda.threadIdx.x", "wrong", ("no-block-index", 3)),
        (NUMBA, "out[i] = math", "return math", "wrong", ("kernel-returns", 5)),
        (NUMBA, "math.exp", "tl.exp", "NameError", ("not-numba", 5)),
        (NUMBA, "triton.cdiv(x.numel(), 256), 256", "256, triton.cdiv(x.numel(), 256)", "wrong", ("launch-swapped", 9)),
    ],
)  # fmt: skip
def test_kernels_in_python(source: str, old: str, new: str, message: str, expected: tuple[str, int]) -> None:
    assert source.count(old) == 1
    finders = [find for find, _ in dialect_mistakes.FACTS]
    finding = failed(message, Status.ILLEGAL_ACCESS if "past the end" in message else Status.WRONG_OUTPUT)
    assert found(source, finding, finders) == []
    assert found(source.replace(old, new), finding, finders) == [expected]


OPERATOR = """@torch.library.custom_op("a::op", mutates_args=())
def op(x: torch.Tensor, scale: float) -> torch.Tensor:
    return extension.run(x, scale)


@op.register_fake
def _(x, scale):
    return x.new_empty(x.shape)


def keep(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])


def differentiate(ctx, grad):
    return grad * ctx.saved_tensors[0], None


op.register_autograd(differentiate, setup_context=keep)
torch.library.register_autocast("a::op", "cuda", torch.float32)
"""


@pytest.mark.parametrize(
    ("old", "new", "message", "expected"),
    [
        ('torch.library.register_autocast("a::op", "cuda", torch.float32)\n', "", "Under autocast", ("not-registered", 1)),
        ("op.register_autograd(differentiate, setup_context=keep)\n", "", "no autograd formula", ("not-registered", 1)),
        ("@op.register_fake\n", "", "There was no fake impl registered", ("not-registered", 1)),
        ("    ctx.save_for_backward(inputs[0])\n", "    pass\n", "gradient", ("nothing-saved", 16)),
        ("    return grad * ctx.saved_tensors[0], None", "    return None, None", "gradient", ("no-gradient", 16)),
    ],
)  # fmt: skip
def test_what_an_operator_lacks(old: str, new: str, message: str, expected: tuple[str, int]) -> None:
    assert OPERATOR.count(old) == 1
    finders = [find for find, _ in operator_mistakes.FACTS]
    finding = failed(message, Status.FAILED)
    assert found(OPERATOR, finding, finders) == []
    assert found(OPERATOR.replace(old, new), finding, finders) == [expected]


def test_a_fact_is_about_the_kernel_that_failed() -> None:
    right = "__global__ void a(float* out, int n) {\n    if (me() < n) out[me()] = 1;\n}\n"
    wrong = "__global__ void b(float* out, int n) {\n    if (me() <= n) out[me()] = 1;\n}\n"
    source = f'source = r"""\n{right}{wrong}"""\n'
    seen = [{"kind": "out-of-bounds-write", "kernel": "b", "line": 6}]
    assert (one := facts.explained(failed("", Status.ILLEGAL_ACCESS, seen=seen), source)) and one.line == 6
    seen = [{"kind": "out-of-bounds-write", "kernel": "a", "line": 3}]
    assert facts.explained(failed("", Status.ILLEGAL_ACCESS, seen=seen), source) is None


HOST = """import torch
from torch.utils.cpp_extension import load_inline

source = r'''
__global__ void add_kernel(const float* x, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] + 1;
}
void add(torch::Tensor x, torch::Tensor out) {
    TORCH_CHECK(x.is_cuda() && out.is_cuda() && out.is_contiguous(), "add: where?");
    x = x.contiguous();
    add_kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), x.numel());
}
'''
module = load_inline("added", "void add(torch::Tensor x, torch::Tensor out);", source, functions=["add"])


def halves(x):
    return x, x


def run(x):
    out = torch.empty_like(x)
    module.add(x, out)
    return out
"""
HOST_CALL = "add(): incompatible function arguments."
HOST_FORM = "add(): incompatible function arguments. The following argument types are supported:\n    1. (arg0: torch.Tensor, arg1: torch.Tensor) -> None\n"


@pytest.mark.parametrize(
    ("old", "new", "finding", "rule", "line", "says"),
    [
        ("empty_like(x)", "empty(x.shape)", failed("writes an address that is not device memory", Status.ILLEGAL_ACCESS),
         "made-on-cpu", 23, "lies in the CPU's memory"),
        ("    module.add(x, out)\n", "    out = x + 1\n", failed("wrong"), "never-called", 9, "no line of the file calls it"),
        ("    module.add(x, out)\n    return out", "    return module.add(x, out)",
         failed("The call returned None, not a tensor.", Status.NOT_A_TENSOR), "void-returned", 24, "add is void"),
        ("    x = x.contiguous();\n", "", failed("This case: A view with gaps."), "not-contiguous", 11, "The pointer of x"),
        ("    x = x.contiguous();\n", "", failed("past the end", Status.ILLEGAL_ACCESS, seen=[{"kind": "global-out-of-bounds", "layout": "strided"}]),
         "not-contiguous", 11, "The pointer of x"),
        ("empty_like(x)", "empty_like(x, dtype=torch.float64)",
         failed("RuntimeError: expected scalar type Float but found Double", Status.RAISED), "other-dtype", 23, "takes its data as Float"),
        ("add(x, out)\n    return", "add(halves(x))\n    return",
         failed(HOST_CALL, Status.RAISED, text=HOST_FORM, where=[{"line": 24}]), "wrong-call", 24, "takes 2 arguments, and this call gives 1. `halves(x)` is a tuple"),
        ("if (i < n)", "const bool inside = true;\n    if (inside)", failed("past the end", Status.ILLEGAL_ACCESS),
         "idle-guard", 7, "always true"),
        ("256>>>", "SIDE * SIDE>>>", failed("CUDA error: invalid configuration argument", Status.CUDA_ERROR), "block-too-large", 12, "16 * 4 * 16 * 4 = 4,096"),
        ("[i] + 1", "[i] + 2", failed("wrong", owner={"kernel": "add_kernel", "line": 7, "access": "write"}),
         "written-here", 7, "was written here, from i (line 6)."),
        ("    if (i < n) out[i] = x[i] + 1;", "    float total[4] = {};\n    for (int e = 0; e < 4; e += 1) total[e] += x[i];\n"
         "    for (int e = 0; e < 4; e += 1)\n        out[i] = total[e] + 1;",
         failed("wrong", owner={"kernel": "add_kernel", "line": 10, "access": "write"}), "written-here", 10, "from total (lines 7 and 8) and i (line 6)."),
    ],
)  # fmt: skip
def test_host_code(old: str, new: str, finding: Finding, rule: str, line: int, says: str) -> None:
    assert HOST.count(old) == 1
    source = HOST.replace(old, new).replace("__global__", "constexpr int SIDE = 16 * 4; __global__", 1)
    told = attach.explained(finding, source).evidence.get("explanation")
    assert isinstance(told, dict) and told["rule"] == rule, told
    assert told["line"] == line and says in told["cause"]


def test_the_check_of_a_device_is_written_with_the_names_of_the_function() -> None:
    source = HOST.replace(
        "TORCH_CHECK(x.is_cuda() && out.is_cuda() && out.is_contiguous()", "TORCH_CHECK(x.dim()"
    )
    source = re.sub(r"\bx\b(?!\))", "xh", source)
    finding = failed("writes an address that is not device memory", Status.ILLEGAL_ACCESS)
    told = attach.explained(finding, source).evidence.get("explanation")
    assert isinstance(told, dict) and told["rule"] == "device-not-checked", told
    assert "xh.is_cuda()" in told["fix"] and "x.is_cuda" not in told["fix"] and "the others" in told["fix"]


@pytest.mark.parametrize("new", ["", "    x.contiguous();\n"])
@pytest.mark.parametrize(
    ("declared", "assigned"),
    [("torch::Tensor x", True), ("const torch::Tensor x", False), ("const torch::Tensor& x", False),
     ("torch::Tensor const &x", False)],
)  # fmt: skip
def test_a_copy_of_a_const_tensor_has_another_name(new: str, declared: str, assigned: bool) -> None:
    source = HOST.replace("    x = x.contiguous();\n", new).replace(
        "add(torch::Tensor x, torch::Tensor out) {", f"add({declared}, torch::Tensor out) {{"
    )
    seen = [{"kind": "global-out-of-bounds", "layout": "strided"}]
    finding = failed("past the end", Status.ILLEGAL_ACCESS, seen=seen)
    told = attach.explained(finding, source).evidence.get("explanation")
    assert isinstance(told, dict) and told["rule"] == ("copy-dropped" if new else "not-contiguous"), told
    assert ("`x = x.contiguous();`" in told["fix"]) is assigned
    assert ("`auto x_contiguous = x.contiguous();`" in told["fix"]) is not assigned


@pytest.mark.parametrize(
    ("declared", "fix"),
    [("torch::stable::Tensor x", "`x = torch::stable::contiguous(x);`"),
     ("const torch::stable::Tensor x", "`auto x_contiguous = torch::stable::contiguous(x);`")],
)  # fmt: skip
def test_a_stable_tensor_has_no_method_that_makes_it_contiguous(declared: str, fix: str) -> None:
    source = HOST.replace("    x = x.contiguous();\n", "").replace(
        "add(torch::Tensor x, torch::Tensor out) {", f"add({declared}, torch::Tensor out) {{"
    )
    told = attach.explained(failed("This case: A view with gaps."), source).evidence.get("explanation")
    assert isinstance(told, dict) and told["rule"] == "not-contiguous" and fix in told["fix"], told


def test_without_a_view_a_pointer_is_not_blamed() -> None:
    source = HOST.replace("    x = x.contiguous();\n", "")
    told = attach.explained(failed("wrong"), source).evidence.get("explanation")
    assert told is None or "not-contiguous" not in str(told)


def test_a_dtype_that_is_asked_for_is_not_made() -> None:
    asks = "    if (x.scalar_type() == torch::kHalf) return;\n    x = x.contiguous();\n"
    finding = failed("RuntimeError: expected scalar type Float but found Half", Status.RAISED)
    told = attach.explained(finding, HOST.replace("    x = x.contiguous();\n", asks)).evidence
    assert "other-dtype" not in str(told.get("explanation"))


def test_a_bias_that_is_added_before_the_kernel_adds_it() -> None:
    model = "class M(nn.Module):\n    def forward(self, x):\n        return bias_relu(self.gemm(x){}, self.bias)\n"
    told = attach.explained(failed("wrong"), model.format(" + self.bias")).evidence["explanation"]
    assert isinstance(told, dict) and told["rule"] == "added-twice" and told["line"] == 3
    assert "bias_relu is handed self.bias to add it" in str(told) and "`self.gemm(x)` alone" in str(told)
    assert not attach.explained(failed("wrong"), model.format("")).evidence


def test_the_second_bias_of_a_model() -> None:
    model = "class M(nn.Module):\n    def __init__(self):\n        self.gemm = nn.Linear(3, 4{})\n        self.bias = nn.Parameter(torch.zeros(4))\n"
    finding = failed("wrong")
    told = attach.explained(finding, model.format("")).evidence["explanation"]
    assert isinstance(told, dict) and told["rule"] == "second-bias" and told["line"] == 3
    assert not attach.explained(finding, model.format(", bias=False")).evidence


PARTS = "def half(x):\n    return x / 3\n\n\ndef run(x):\n    return half(x) + x\n"
TASK = Task(
    "t", "run", (Case("first", (Tensor((2,)),), "", 1), Case("half", (Tensor((2,)),), "", 1, entry="half"))
)


def test_a_part_that_is_wrong_comes_before_what_calls_it() -> None:
    both = [
        Finding(name, Status.WRONG_OUTPUT, "First wrong: element [0].", 0, 1) for name in ("first", "half")
    ]
    marked = functions_first.marked(both, TASK, PARTS)
    assert [f.evidence.get("part") for f in marked] == [None, "half"]
    verdict = Verdict("t", "s.py", "simt", "cpu", tuple(marked), 0.0)
    assert [f.id for f in verdict.failed] == ["half", "first"]
    told = attach.explained(marked[1], PARTS).evidence["explanation"]
    assert isinstance(told, dict) and told["line"] == 2 and "half hands back `x / 3`" in told["cause"]


def test_a_part_alone_or_one_that_nobody_calls_stays_where_it_is() -> None:
    right = Finding("first", Status.PASSED, "", 1, 1)
    wrong = Finding("half", Status.WRONG_OUTPUT, "First wrong", 0, 1)
    called = replace(wrong, evidence={"function": "half"})  # which function it is of is all that is added
    assert functions_first.marked([right, wrong], TASK, PARTS) == [right, called]
    both = [replace(wrong, id="first", evidence={"function": "run"}), called]
    for source in (PARTS.replace("half(x) + x", "x"), "def half("):
        assert functions_first.marked([replace(wrong, id="first"), wrong], TASK, source) == both


BODY = "__global__ void k(const float* x, float* out, float scale, int n) {{\n{}\n}}\n"
LAUNCH = "void f(torch::Tensor x, torch::Tensor out, double scale) {{\n    k<<<1, 32>>>(x.data_ptr<float>(), out.data_ptr<float>(), {}, x.numel());\n}}\n"
INDEX = "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"


@pytest.mark.parametrize(
    ("body", "finding", "rule", "line"),
    [
        (INDEX + "    if (i < n) exp(x[i]);", failed("wrong"), "never-stored", 4),
        (INDEX + "    if (i < n) out[i] = x[threadIdx.x] * scale;", failed("wrong"), "number-in-block", 4),
        (INDEX + "    if (i < n) out[i] = scale * (1.0f / 1.0f + expf(-x[i]));", failed("wrong"), "division-first", 4),
        (INDEX + "    const int row = i / n, col = i % n;\n    out[col * n + row] = x[i];", failed("wrong"), "other-length", 5),
        (INDEX + "    out[i] = i * i;",
         failed("wrong", seen=[{"kind": "integer-overflow", "line": 4, "what": "computes 70000 * 70000 as int, which cannot hold it; make"}]),
         "overflow", 4),
        ("    __shared__ float tile[9];\n    if (threadIdx.x < 5) tile[threadIdx.x] = x[0];\n    __syncthreads();\n    out[0] = tile[8];",
         failed("x", Status.UNINITIALISED, seen=[{"kind": "shared-uninitialised", "line": 6, "what": "reads element 8 of tile (36 bytes of shared memory), which"}]),
         "half-filled", 4),
    ],
)  # fmt: skip
def test_what_a_kernels_statement_does(body: str, finding: Finding, rule: str, line: int) -> None:
    source = f'source = r"""\n{BODY.format(body)}"""\n'
    finders = [find for find, _ in bodies.FACTS]
    assert found(source, finding, finders)[:1] == [(rule, line)]


@pytest.mark.parametrize(
    "body",
    [
        INDEX + "    if (i < n) out[i] = scale / (1.0f + expf(-x[i]));",
        INDEX + "    float* to = out;\n    to[i] = x[i];",
        "    out[blockIdx.x] = x[0];\n    if (blockIdx.x == 0) out[0] = out[threadIdx.x];",  # a part of each block
        INDEX + "    const int row = i / n, col = i % n;\n    out[col * 7 + row] = x[i];",
    ],
)
def test_what_is_right_is_not_blamed(body: str) -> None:
    source = f'source = r"""\n{BODY.format(body)}{LAUNCH.format("scale")}"""\n'
    assert found(source, failed("wrong"), [find for find, _ in bodies.FACTS]) == []


def test_a_factor_that_loses_its_fraction_or_is_not_handed_over() -> None:
    kernel = BODY.format("    out[0] = x[0] * scale;")
    finders = [find for find, _ in bodies.FACTS]
    whole = kernel.replace("float scale", "int scale")
    assert found(f'source = r"""\n{whole}{LAUNCH.format("scale")}"""\n', failed("wrong"), finders) == [
        ("fraction-dropped", 2)
    ]
    fixed = f'source = r"""\n{kernel}{LAUNCH.format("2.0f")}"""\n'
    assert found(fixed, failed("wrong"), finders) == [("not-handed-over", 6)]


def test_what_comes_to_a_layer_may_lack_a_flatten() -> None:
    def fix(source: str, sizes: str) -> str:
        lost = failed(f"RuntimeError: mat1 and mat2 shapes cannot be multiplied ({sizes})", Status.RAISED)
        return str(attach.explained(lost, source).evidence["explanation"]["fix"])

    layers = "a = nn.Linear(784, 64)\nb = nn.Linear(64, 10)\n"
    batch = "x = torch.randn(8, 1, 28, 28)\n"
    assert fix(layers + batch, "224x28 and 784x64").startswith("1 x 28 x 28 is 784: flatten each element")
    assert "flattened first" in fix(layers, "224x28 and 784x64")
    assert "flatten" not in fix(layers, "224x30 and 784x64")
    assert "must have 784 columns" in fix(layers + "x = torch.randn(8, 30)\n", "8x30 and 784x64")


def test_a_result_that_is_like_its_input_sends_to_what_is_handed_over() -> None:
    host = 'source = r"""\ntorch::Tensor run(torch::Tensor x) {\n    auto out = torch::HOW;\n    return out;\n}\n"""\n'
    wrong = failed("The result has shape [2], expected [3].", Status.WRONG_SHAPE)

    def fix(how: str) -> str:
        return str(attach.explained(wrong, host.replace("HOW", how)).evidence["explanation"]["fix"])

    assert "Look at what is handed over as x where run is called" in fix("empty_like(x)")
    assert "`torch::empty_like(x)`" in fix("empty({2}, x.options())")


def test_the_layer_the_flag_the_keyword_and_the_call_that_is_made_at_once() -> None:
    def told(source: str, finding: Finding) -> tuple[str, int]:
        explanation = attach.explained(finding, source).evidence["explanation"]
        return explanation["rule"], explanation["line"]

    sizes = failed(
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x288 and 512x10)", Status.RAISED
    )
    assert told("import torch\n\nlayer = torch.nn.Linear(8 * 64, 10)\n", sizes) == ("matrix-shapes", 3)
    weight = failed(
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x64 and 128x64) (m.py, line 2: y = x @ layer.weight)",
        Status.RAISED,
    )
    told_of = attach.explained(weight, "x = 1\ny = x @ layer.weight\n").evidence["explanation"]
    assert told_of["line"] == 2 and "`layer.weight.T`" in told_of["fix"]
    turned = attach.explained(weight, "x = 1\ny = x @ layer.weight.T\n").evidence["explanation"]
    assert "weight.T" not in turned["fix"]
    off = failed("The largest error is about 2^-12 of the largest value; that looks like half precision, not float32.",
                 Status.PRECISION)  # fmt: skip
    power = KERNEL.format("    if (n) out[0] = powf(2.71f, x[0]);")
    assert "looks like" not in attach.explained(off, f'code = r"""{power}"""').message
    assert "looks like" in attach.explained(off, "x = 1\n").message
    old = failed(
        "x", Status.COMPILE_ERROR, log="#error C++17 or later compatible compiler is required to use PyTorch."
    )
    assert told('\nextension = load_inline(extra_cflags=["-std=c++14"])\n', old) == ("old-standard", 2)
    newer = failed(
        "x", Status.COMPILE_ERROR, log="#error C++20 or later compatible compiler is required to use ATen."
    )
    assert told('\nextension = load_inline(extra_cflags=["-std=c++17"])\n', newer) == ("old-standard", 2)
    assert "need C++20 or later" in str(attach.explained(newer, "").evidence["explanation"])
    word = failed(
        "TypeError: profile.__init__() got an unexpected keyword argument 'record_shape'", Status.RAISED
    )
    assert told("with profile(\n    record_shape=True,\n): pass\n", word) == ("keyword-unknown", 2)
    early = failed("UnboundLocalError: cannot access local variable 'profiler'", Status.RAISED)
    source = "with profile(\n    on_trace_ready=profiler.export(path),\n) as profiler: pass\n"
    assert told(source, early) == ("called-at-once", 2)
    missing = failed(
        "ModelNew has no parameter like the reference's bias [128]; it has: none.", Status.MISSING_ENTRY
    )
    model = "class ModelNew:\n    def __init__(self):\n        self.bias = torch.randn(128)\n"
    assert told(model, missing) == ("plain-tensor", 3)


@pytest.mark.parametrize(
    ("how", "guard", "said"),
    [
        ("<<<1, 1>>>", "", None), ("<<<dim3(1, 1), dim3(1), 0, stream>>>", "", None),
        ("<<<1, 256>>>", "", "by all threads"), ("<<<blocks, threads>>>", "", "every thread runs it."),
        ("<<<1, 256>>>", "if (threadIdx.x == 0) ", None), ("<<<1, 256>>>", "if (i < n) ", "by all threads"),
        ("<<<1, 256>>>", "if (first(n)) ", None),
    ],
)  # fmt: skip
def test_a_loop_over_all_elements_is_blamed_on_the_threads_that_run_it(
    how: str, guard: str, said: str | None
) -> None:
    source = f'''code = r"""
__global__ void k(float* out, int n) {{
    int i = threadIdx.x;
    {guard}for (int j = 0; j < n; ++j) out[j] = 1;
}}
void f(float* out, int n) {{ k{how}(out, n); }}
"""
'''
    finding = Finding("all", Status.WRONG_OUTPUT, "First wrong")
    found = attach.explained(finding, source).evidence.get("explanation") or {"rule": "", "cause": ""}
    assert (found["rule"] == "loop-in-each-thread") is (said is not None), found
    assert said is None or said in found["cause"]


def test_a_formula_is_not_doubted_when_calls_before_were_right() -> None:
    source = HOST.replace("x[i] + 1;", "more(x[i]);")
    source = source.replace("__global__", "__device__ float more(float a) { return a + 2; } __global__", 1)
    owner = {"kernel": "add_kernel", "line": 7, "access": "write"}
    for message, formula in (
        ("First wrong: element 0.", True),
        ("Call 3, after new values were written into the same input tensors: First wrong: element 0.", False),
    ):
        told = attach.explained(failed(message, owner=owner), source).evidence.get("explanation")
        assert isinstance(told, dict) and told["rule"] == "written-here", told
        assert ("with the formula" in told["fix"]) == formula, told
