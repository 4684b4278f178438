"""What is said of a line of C++ that a compiler refuses: signs, const, arguments, vectors."""

import pytest

from grader.feedback.explain import explain

FILE = '''code = r"""
#include <torch/extension.h>
__device__ float fused_one(float value, float scale) {
    return value / (1.0f + expf(-value)) * scale;
}
__global__ void fused_kernel(const float4* x, CONST float* out, float scale, int64_t n) {
    const int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    STATEMENT
}
torch::Tensor fused(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda(), "on the CPU: ", x.device());
    return x;
}
"""
module = load_inline(name="a", cpp_sources=SOURCES, cuda_sources=code, functions=["fused"])
'''


def told(
    statement: str,
    said: str,
    const: str = "",
    line: int = 8,
    sources: str = '"torch::Tensor fused(torch::Tensor x);"',
):
    source = FILE.replace("STATEMENT", statement).replace("CONST ", const).replace("SOURCES", sources)
    place = f"/a/sub.py:{line}:5: error: {said}" if line else said
    found = explain(place, source)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("statement", "said", "cause", "fix"),
    [
        ("float v = (scale * 2.0f;", "expected ')' before ';' token", "1 `(` and 0 `)`", "Write `)` behind"),
        ("float v = x[i.x;", "expected ']' before ';' token", "1 `[` and 0 `]`", "Write `]` behind `i.x`."),
        ("float v = scale / (1.0f + expf(-scale) + scale;", "expected ')' before ';' token",
         "the one in front of `1.0f + expf(-scale) + scale` is left", "further left"),
        ("float v = fmaxf(scale 0.0f);", "expected ')' before numeric constant",
         "A comma or an operator is missing between `scale` and `0.0f`; all brackets", "joins the two"),
        ('TORCH_CHECK(n > 0 "no elements");', "expected ')' before string constant",
         "A comma is missing between `0` and `\"no elements\"`", '`TORCH_CHECK(n > 0, "no elements");`'),
        ("float v = fused_one(x, scale);", "cannot convert 'const float*' to 'float'",
         "`x` is a pointer, to all elements", "Hand over one element of x."),
        ("out[i] = fused_one(out, x[i].x);", "cannot convert 'float*' to 'float'", "`out` is a pointer", "`out[i]`"),
        ("float v = x.size(0);", "request for member 'size' in 'x', which is of non-class type 'const float*'",
         "a pointer, `const float*`", "an argument of its own"),
        ("if (fused_one < n) out[i] = x[i];", "invalid template-argument-list",
         "`fused_one` is a function, and its name alone", "`fused_one()`"),
        ("float v = fmaxf((float) scale, 0.0f) );", "expected ')' before 'v'", "All brackets of this statement are closed", "left to right"),
    ],
)  # fmt: skip
def test_a_bracket_is_told_from_a_comma(statement: str, said: str, cause: str, fix: str) -> None:
    found = told(statement, said)
    assert cause in found.cause and fix in found.fix, found
    assert "caret" not in found.cause + found.fix and found.line == 8


def test_the_output_that_is_declared_const_is_named_where_it_is_declared() -> None:
    found = told("out[i] = scale;", "assignment of read-only location '*(out + 4)'", "const ")
    assert found.line == 6 and "It is the output" in found.cause and found.fix == "Write `float* out`."


def test_a_write_to_the_input_is_sent_to_the_output() -> None:
    found = told("x[i] = scale;", "assignment of read-only location '*(x + 4)'")
    assert found.line == 8 and "line 6 declares it `const float4* x`" in found.cause and "`out`" in found.fix


@pytest.mark.parametrize(
    ("statement", "cause", "fix"),
    [
        ("out[i] = fused_one(x[i].x);", "scale is left out", ""),
        ("out[i] = fused_one(value);", "scale is left out", "Write `fused_one(value, scale)`."),
        ("out[i] = fused_one(x[i].x, scale, n);", "hands over 3", "Take away"),
    ],
)
def test_the_argument_that_a_call_leaves_out_is_named(statement: str, cause: str, fix: str) -> None:
    count = "many" if "n)" in statement else "few"
    found = told(statement, f"too {count} arguments to function 'float fused_one(float, float)'")
    assert "takes 2 arguments (line 3: value, scale)" in found.cause and fix in found.fix
    assert cause in found.cause or "value" not in statement, found
    assert "candidate" not in found.cause + found.fix


@pytest.mark.parametrize(
    ("types", "cause", "fix"),
    [
        ("'operator[]' (operand types are 'const float4' and 'int')", "A float4 is not an array: its 4 numbers", "`v[0]` is `v.x`"),
        ("'operator+' (operand types are 'float4' and 'float4')", "`+`, stands between a `float4`", "no arithmetic"),
        ("'operator+' (operand types are 'at::Tensor' and 'const char')", "a `at::Tensor`", "numbers and tensors"),
    ],
)  # fmt: skip
def test_an_operator_is_told_with_its_types(types: str, cause: str, fix: str) -> None:
    found = told("out[i] = v[0] + v[1];", f"no match for {types}")
    assert cause in found.cause and fix in found.fix, found


@pytest.mark.parametrize(
    ("said", "near"),
    [
        ("'tensor' in namespace 'torch' does not name a type", "Tensor"),
        ("'kfloat32' is not a member of 'torch'", "kFloat32"),
        ("'emptylike' is not a member of 'torch'", "empty_like"),
    ],
)
def test_a_misspelt_name_of_torch_is_guessed(said: str, near: str) -> None:
    found = told("return;", said)
    assert found.rule == "not-in-torch" and f"Did you mean {near}?" in found.cause


def test_a_missing_header_is_still_told() -> None:
    assert told("return;", "'torch' has not been declared").rule == "torch-not-included"


def test_a_cast_without_brackets() -> None:
    found = told("out[i] = static_cast<float> scale;", "expected '(' before 'scale'")
    assert found.fix == "Write `static_cast<float>(scale)`."


def test_a_definition_that_cpp_sources_does_not_declare() -> None:
    said = "bindings:2:5: error: 'fused' was not declared in this scope"
    found = told("return;", said, line=0, sources='""')
    assert (
        found.line == 15
        and found.fix == "Write its head with a semicolon there: `torch::Tensor fused(torch::Tensor x);`."
    )


@pytest.mark.parametrize(
    ("said", "near"),
    [
        ("'C10_CUDA_KERNEL_LAUCH_CHECK' was not declared in this scope", "C10_CUDA_KERNEL_LAUNCH_CHECK"),
        ("'Torch_check' was not declared in this scope", "TORCH_CHECK"),
        ("'class at::Tensor' has no member named 'num_el'", "numel"),
        ("'class at::Tensor' has no member named 'dataptr'", "data_ptr"),
    ],
)
def test_a_misspelt_macro_or_member_is_guessed(said: str, near: str) -> None:
    assert f"Did you mean {near}?" in told("return;", said).cause


def test_a_member_of_something_else_is_not_guessed() -> None:
    assert "Did you mean" not in told("return;", "'const float4' has no member named 'dims'").cause


@pytest.mark.parametrize(
    ("statement", "rule"),
    [("float v = fused_one(x, scale);", "pointer-for-number"), ("f<<<1, 2>>>(x, scale);", "")],
)
def test_a_pointer_for_a_number_is_told_in_a_function_and_not_of_a_launch(statement: str, rule: str) -> None:
    said = 'argument of type "const float *" is incompatible with parameter of type "float"'
    found = explain(
        f"/a/sub.py:8:5: error: {said}", FILE.replace("STATEMENT", statement).replace("CONST ", "")
    )
    assert (found.rule if found and found.rule == "pointer-for-number" else "") == rule
