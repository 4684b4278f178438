"""Slips that beginners make beside each other: the line, the cause, and nothing of a right line beside it."""

import re
from pathlib import Path
from typing import Any

import pytest

from grader.domain.lessons import every
from grader.domain.verdict import Finding, Status
from grader.feedback.explain import (
    decimal_commas,
    facts,
    host_mistakes,
    joined_results,
    python_mistakes,
    student_tests,
    together,
    vector_mistakes,
    whole_division,
)
from grader.feedback.explain.attach import explained
from grader.feedback.explain.source_text import read

HONEST = sorted((Path(__file__).parents[2] / "corpus" / "honest").glob("*.py"))
RIGHT = [s for one in every() for s in one.solution.parent.rglob("*.py")] + HONEST

FLOAT4 = '''
cuda_source = r"""
__device__ float one(float v, float b) { return v + b; }
__global__ void quads(const float4* x, const float4* bias, float4* out, int64_t count, int64_t qcols) {
    const int64_t q = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (q >= count) return;
    float4 v = x[q];
    const float4 b = bias[q % qcols];
    v.x = one(v.x, b.x);
    v.y = one(v.y, b.y);
    v.z = one(v.z, b.z);
    v.w = one(v.w, b.w);
    out[q] = v;
}
__global__ void plain(const float* x, const float* bias, float* out, int64_t n, int64_t cols) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = one(x[i], bias[i % cols]);
}
torch::Tensor fused(torch::Tensor x, torch::Tensor bias) {
    TORCH_CHECK(x.dim() == 2 && bias.dim() == 1 &&
                bias.size(0) == x.size(1), "fused: one bias for each column");
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel(), cols = x.size(-1);
    if (cols % 4 == 0) {
        const int64_t count = n / 4;
        quads<<<(count + 255) / 256, 256, 0, stream>>>(xp, bp, op, count, cols / 4);
    } else {
        plain<<<(n + 255) / 256, 256, 0, stream>>>(xp, bp, op, n, cols);
    }
    return out;
}
"""
module = load_inline(name="m", cuda_sources=cuda_source, functions=["fused"])


class ModelNew(nn.Module):
    def forward(self, x):
        return module.fused(self.gemm(x), self.bias)
'''
REFUSES = '''
source = r"""
torch::Tensor square(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda(), "x must be on the GPU");
    TORCH_CHECK(x.scalar_type() == torch::kFloat32, "x must be float32");
    TORCH_CHECK(x.dim() == 2, "x must be a matrix");
    torch::Tensor out = torch::empty_like(x);
    square_kernel<<<1, 1>>>(x.data_ptr<float>(), out.data_ptr<float>());
    return out;
}
"""
'''
BLOCKS = """
def blocks_for(n, size):
    blocks = n // size
    if n % size != 0:
        blocks += 1
    return blocks
"""
NEAR = """
def near(i, n, x, out):
        total = x[i]
        if i > 0:
            total += x[i - 1]
        if i < n - 1:
            total += x[i + 1]
        out[i] = total
"""
COUNTER = """
def benchmark(kernel, inputs):
    count = 0

    def call():
        nonlocal count
        kernel(inputs[count % len(inputs)])
        count += 1

    return time_kernel(call)
"""
TIMER = """
def time_kernel(fn):
    fn()


def summary(seconds):
    deciles = statistics.quantiles(seconds, n=10)
    return deciles[0], deciles[8]


def benchmark(kernel):
    def call():
        kernel()

    return time_kernel(call)


def record(model, batch, path):
    def save(profiler):
        profiler.export_chrome_trace(path)

    with profile(on_trace_ready=save, record_shapes=True):
        model(batch)
"""
TEST = """
class ModelNew:
    def __init__(self, scale):
        self.scale = scale

    def forward(self, x):
        return fused(x, self.scale)


def test(kernel):
    before = x.clone()
    kernel(x)
    assert torch.equal(before, x)
    assert (error <= bound).all()
"""
TILE = '''
source = r"""
__global__ void near_kernel(const float* x, float* out, int, int n) {
    __shared__ float tile[SIZE];
    const int t = threadIdx.x, i = me();
    if (i < n) tile[t] = x[i];
    __syncthreads();
    if (i < n) out[i] = tile[t];
}
"""
'''


def failed(status: Status, message: str, **evidence: Any) -> Finding:
    return Finding("a case", status, message, evidence=evidence)


WRONG = failed(Status.WRONG_OUTPUT, "First wrong: element [0, 3] is 1.3, expected 0.")
NAN = failed(Status.WRONG_OUTPUT, "First wrong: element [0, 3] is 0, expected nan.")
OUTSIDE = failed(Status.ILLEGAL_ACCESS, "reads element 127 of bias, 1 element past the end.")
NONE = failed(Status.WRONG_ANSWER, "Line 6: blocks_for(32, 8) is None, expected 4. More.")
HALF = failed(Status.WRONG_ANSWER, "Line 6: blocks_for(33, 8) is 5.125, expected 5. More.")
NOT_CALLABLE = failed(Status.RAISED, "TypeError: 'NoneType' object is not callable (line 3: fn())")
ALIKE = failed(
    Status.WRONG_ANSWER, "It passes on a kernel that overwrites its input. Which input would show that?"
)
AMBIGUOUS = failed(
    Status.WRONG_ANSWER,
    "RuntimeError: Boolean value of Tensor with more than one value is ambiguous (line 14: assert)",
)


def passing(dtype: str = "float32", device: str = "cuda", dims: int = 2) -> Finding:
    return failed(
        Status.NOT_REFUSED,
        "The call was accepted.",
        passes=[{"dtype": dtype, "device": device, "dims": dims}],
    )


def raised(text: str) -> Finding:
    return failed(Status.RAISED, text)


@pytest.mark.parametrize(
    ("source", "old", "new", "finding", "line", "says"),
    [
        (FLOAT4, "one(v.w, b.w)", "one(v.z, b.w)", WRONG, 12, r"\.z for \.w.*v\.w = one\(v\.w, b\.w\)"),
        (FLOAT4, "v.w = one(v.w, b.w)", "v.z = one(v.z, b.z)", WRONG, 12, r"v\.z gets a value twice, and v\.w none"),
        (FLOAT4, "count = n / 4", "count = n", OUTSIDE, 25, "number of floats.*quarter"),
        (FLOAT4, "(cols % 4 == 0)", "(n % 4 == 0)", WRONG, 24, r"`cols / 4`.*Ask for `cols % 4 == 0`"),
        (FLOAT4, "bias[i % cols]", "bias[i % n]", OUTSIDE, 17, "`i % n` is i itself"),
        (FLOAT4, "return v + b;", "return v + b > 0.0f ? v + b : 0.0f;", NAN, 3, "v \\+ b < 0.0f"),
        (FLOAT4, "return v + b;", "return max(0.0f, v + b);", NAN, 3, "NaN is lost"),
        (FLOAT4, "(n + 255) / 256, 256", "n / 256, 256", WRONG, 28, "rounds down"),
        (FLOAT4, "fused(self.gemm(x), self.bias)", "fused(self.bias, self.gemm(x))",
         raised("RuntimeError: fused: one bias for each column"), 38, "Argument 1 of this call is `self.bias`"),
        (FLOAT4, "x.size(1),", "x.size(0),", raised("RuntimeError: fused: one bias for each column"), 20,
         r"`x.dim\(\) == 2 && bias.dim\(\) == 1 && bias.size\(0\) == x.size\(0\)` was false"),
        (REFUSES, 'x.scalar_type() == torch::kFloat32, "x must', 'true, "it must', passing("float64"), 3,
         "x of dtype float64.*kFloat32"),
        (REFUSES, 'TORCH_CHECK(x.scalar_type() == torch::kFloat32, "x must be float32");',
         "x = x.to(torch::kFloat32);", passing("float64"), 5, "converts whatever comes.*kFloat32"),
        (REFUSES, "x.is_cuda()", "true", passing(device="cpu"), 3, "x on the CPU.*is_cuda"),
        (REFUSES, 'TORCH_CHECK(x.is_cuda(), "x must be on the GPU");', "x = x.cuda();", passing(device="cpu"), 4,
         "converts whatever comes.*is_cuda"),
        (REFUSES, "x.dim() == 2", "true", passing(dims=3), 3, r"3 dimensions.*x\.dim\(\)"),
        (FLOAT4, "module.fused(self.gemm(x), self.bias)", "self.gemm(module.fused(x, self.bias))",
         failed(Status.WRONG_OUTPUT, "No thread of the file's kernels wrote this element."), 38, "before self.gemm"),
        (COUNTER, "        nonlocal count\n", "", raised("UnboundLocalError: cannot access local variable 'count' where "
         "it is not associated with a value"), 5, "`nonlocal count`"),
        (NEAR, "        if i < n - 1", "        elif i < n - 1", WRONG, 6, "was false.*Write `if i < n - 1:`"),
        (NEAR, "out[i] = total", "out[i] == total", failed(Status.UNINITIALISED, "Line 8: reads out"), 8, "==.*write `=`"),
        (NEAR, "out[i] = total", "return total",
         failed(Status.UNINITIALISED, "near writes nothing into out. A kernel returns nothing; it stores"), 8, "own element"),
        (BLOCKS, "    return blocks", "        return blocks", NONE, 6, "belongs to the `if` of line 4"),
        (BLOCKS, "n // size", "n / size", HALF, 3, "`n // size`"),
        (TIMER, "time_kernel(call)", "time_kernel(call())", NOT_CALLABLE, 15, r"Hand over a function: `time_kernel\(call\)`"),
        (TIMER, "deciles[8]", "deciles[9]", raised("IndexError: list index out of range"), 8, "9 cuts.*0 to 8"),
        (TIMER, "=save,", "=save(profile),", raised("TypeError: missing 1 argument"), 22, "on_trace_ready=save`"),
        (TIMER, "record_shapes", "record_shape",
         raised("TypeError: profile.__init__() got an unexpected keyword argument 'record_shape'"), 22, "`record_shapes`"),
        (TEST, "self.scale)", "scale)", raised("NameError: name 'scale' is not defined"), 7, "self.scale"),
        (TEST, "x.clone()", "x", ALIKE, 11, "another name for x, not a copy"),
        (TEST, "(error <= bound).all()", "error <= bound", AMBIGUOUS, 14, r"`\(error <= bound\)\.all\(\)`"),
        (TILE, "out[i] = tile[t]", "out[i] = tile[i - 1]", OUTSIDE, 8, r"belongs to the block.*`tile\[t - 1\]`"),
    ],
)  # fmt: skip
def test_a_slip_is_named(source: str, old: str, new: str, finding: Finding, line: int, says: str) -> None:
    assert source.count(old) == 1
    before = explained(finding, source).evidence.get("explanation")
    assert before is None or before["rule"] in ("not-refused", "check-refused"), before
    told = explained(finding, source.replace(old, new)).evidence.get("explanation")
    if not line:
        return
    assert told is not None and told["line"] == line, told
    assert re.search(says, f"{told['cause']} {told['fix']}"), told


@pytest.mark.thorough
def test_none_of_them_is_found_in_a_right_file() -> None:
    finders = [
        find
        for find, _ in (
            *python_mistakes.FACTS,
            *vector_mistakes.FACTS,
            *together.FACTS,
            *joined_results.FACTS,
            *decimal_commas.FACTS,
            *student_tests.FACTS,
        )
    ]
    finders += [host_mistakes.swapped_in_python]
    finders += [whole_division.rounded_down, facts.remainder_of_all]
    messages = ("expected nan", "It passes on a kernel that overwrites its input", "IndexError", "returned None",
                "Boolean value of Tensor with more than one value (line 60: assert)")  # fmt: skip
    said = {
        f"{path.parent.name}/{path.name}:{fact.line}: {fact.cause}"
        for path in RIGHT
        for text in [read(path.read_text("utf-8"))]
        for message in messages
        for find in finders
        for fact in find(text, failed(Status.WRONG_OUTPUT, message))
    }
    assert said == set()


@pytest.mark.parametrize(
    ("condition", "right"),
    [
        ('word == "a" or "b"', '`word in ("a", "b")`'),
        ("word == 'a' or 'b' or 'c'", "`word in ('a', 'b', 'c')`"),
        ('word == "a" or word == "b"', ""),
        ('word in ("a", "b") or ""', ""),
        ('word or "b"', ""),
    ],
)
def test_a_text_that_is_compared_with_nothing(condition: str, right: str) -> None:
    source = (
        f"def f(word):\n    if {condition}:\n        return 1\n    return 0\n\n\ndef g():\n    return f(1)\n"
    )
    told = {}
    for line in (1, 7):
        finding = failed(Status.WRONG_ANSWER, f"Line {line}: f('c') is 1, expected 0.")
        told[line] = explained(finding, source).evidence.get("explanation") or {"rule": "", "fix": ""}
    assert (told[1]["rule"] == "always-true") == bool(right) and right in told[1]["fix"]
    assert told[7]["rule"] != "always-true"


@pytest.mark.parametrize(
    ("first", "added", "told"),
    [
        ("[]", 'files += "a.cpp"', '`files.append("a.cpp")`'),
        ('["b"]', "files.extend('a.cpp')", "`files += ['a.cpp']`"),
        ("[]", 'files += ["a.cpp"]', ""),
        ('""', 'files += "a.cpp"', ""),
    ],
)
def test_a_text_that_is_added_to_a_list(first: str, added: str, told: str) -> None:
    source = f"def f(word):\n    files = {first}\n    {added}\n    return files\n"
    finding = failed(Status.WRONG_ANSWER, "Line 1: f('c') is ['a'], expected ['a.cpp'].")
    found = explained(finding, source).evidence.get("explanation") or {"rule": "", "fix": ""}
    assert (found["rule"] == "letters-of-a-word") == bool(told) and told in found["fix"]
    assert not told or found["line"] == 3


def test_what_a_name_lists_is_what_is_bound() -> None:
    source = (
        'docs = {"one": "x"}\nm = load_inline(name="m", functions=docs)\n\n\ndef f():\n    return m.two()\n'
    )
    message = "AttributeError: module 'm' has no attribute 'two' (s.py, line 6: return m.two())"
    told = explained(failed(Status.RAISED, message), source).evidence["explanation"]
    assert (told["rule"], told["line"]) == ("not-bound", 1) and "functions binds one only" in told["cause"]
    twice = source.replace("m = load", 'docs = {"one": "x", "two": "y"}\nm = load')
    assert (
        "functions binds"
        not in explained(failed(Status.RAISED, message), twice).evidence["explanation"]["cause"]
    )


@pytest.mark.parametrize(
    ("source", "message", "status", "rule", "line", "fix"),
    [
        ("plan = schedule(1, 2, steps, 1)\n", "TypeError: schedule() takes 0 positional arguments but 4 were given (s.py, "
         "line 1: plan)", Status.RAISED, "by-name-only", 1, "`schedule(wait=1, warmup=2, active=steps, repeat=1)`"),
        ("f(1, b=2)\n\n\ndef f(*, a, b):\n    pass\n", "TypeError: f() takes 0 positional arguments but 1 was given (s.py, "
         "line 1: f(1, b=2))", Status.RAISED, "by-name-only", 1, "name=value"),
        ("f(1)\n\n\ndef f():\n    pass\n", "TypeError: f() takes 0 positional arguments but 1 was given (s.py, line 1: f(1))",
         Status.RAISED, "", 0, ""),
        ("def test(kernel, x):\n    y = kernel(x)\n    assert y == x[:0]\n", "Line 1: The test fails on a right kernel: "
         "RuntimeError: Boolean value of Tensor with no values is ambiguous (line 3: assert y == x[:0]).",
         Status.WRONG_ANSWER, "none-to-compare", 3, "`assert y.shape == x[:0].shape`"),
        ("def record(model, path):\n    with profile() as p:\n        p.export_chrome_trace('t.json')\n",
         "No trace to look at: nothing was written to the path given.", Status.WRONG_ANSWER, "another-path", 3,
         "`p.export_chrome_trace(path)`"),
        ("def record(model, path):\n    with profile() as p:\n        p.export_chrome_trace(path)\n",
         "No trace to look at: nothing was written to the path given.", Status.WRONG_ANSWER, "", 0, ""),
        ('def k(i, x, out):\n    """Neighbours that do not exist count as zero."""\n    total = x[i]\n    if i > 0:\n'
         "        total += x[i - 1]\n    else:\n        total += x[i]\n    out[i] = total\n",
         "Line 8: out[0] is 2, expected 1.", Status.WRONG_OUTPUT, "else-adds", 7, "Leave the `else` out"),
    ],
)  # fmt: skip
def test_one_line_that_does_another_thing(
    source: str, message: str, status: Status, rule: str, line: int, fix: str
) -> None:
    told = explained(failed(status, message), source).evidence.get("explanation") or {
        "rule": "",
        "line": 0,
        "fix": "",
    }
    assert (told["rule"], told["line"]) == (rule, line) and fix in told["fix"], told
