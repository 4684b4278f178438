"""Declarations in cpp_sources that promise another result than the definition in cuda_sources gives."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import facts

SOURCE = '''from torch.utils.cpp_extension import load_inline
cuda = r"""
#include <torch/extension.h>
__global__ void k(float* x) { x[0] = 1; }
torch::Tensor f(torch::Tensor x) {
    k<<<1, 1>>>(x.data_ptr<float>());
    return x;
}
"""
extension = load_inline(
    name="one",
    cpp_sources="torch::Tensor f(torch::Tensor x);",
    cuda_sources=cuda,
    functions=["f"],
)
'''


def told(declared: str) -> tuple[int, str, str] | None:
    source = SOURCE.replace('"torch::Tensor f(torch::Tensor x);"', f'"{declared}"')
    found = facts.explained(Finding("a case", Status.CRASHED, "The process crashed."), source)
    return (found.line, found.cause, found.fix) if found and found.rule == "declared-otherwise" else None


@pytest.mark.parametrize(
    ("kind", "words"), [("void", "no result (void)"), ("int", "an int"), ("float", "a float")]
)
def test_another_result_is_named_at_the_declaration(kind: str, words: str) -> None:
    line, cause, fix = told(f"{kind} f(torch::Tensor x);") or (0, "", "")
    assert line == 12 and words in cause and "line 5" in cause
    assert fix == "Declare it as it is defined: `torch::Tensor f(torch::Tensor x);`."


@pytest.mark.parametrize("declared", ["torch::Tensor f(torch::Tensor x);", "at::Tensor f(at::Tensor x);"])
def test_the_same_type_by_another_name_is_right(declared: str) -> None:
    assert told(declared) is None
