"""Where a None comes from that stands in a tensor's place."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

SOURCE = """import torch
from torch import nn
extension = load_inline(name="a", cpp_sources="", functions=["bias_relu"])
def silent(x):
    print(x)
class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.gemm = nn.Linear(3, 4, bias=False)
        self.conv = nn.Conv2d(3, 4, 3, bias=False)
        self.full = nn.Linear(3, 4)
        self.later = None
        BIAS
    def forward(self, x, scale=None):
        BODY
"""
BIAS = "self.bias = nn.Parameter(torch.zeros(4))"
TEXT = """bias_relu(): incompatible function arguments. The following argument types are supported:
    1. (arg0: torch.Tensor, arg1: torch.Tensor) -> torch.Tensor

Invoked with: tensor([1.]), None"""


def told(body: str, bias: str = BIAS, *, torch_says: str = "") -> dict[str, object]:
    source = SOURCE.replace("BODY", body.replace("\n", "\n        ")).replace("BIAS", bias)
    line = len(source.splitlines())
    code = source.splitlines()[line - 1].strip()
    said = torch_says or "bias_relu(): incompatible function arguments."
    finding = Finding("a case", Status.RAISED, f"TypeError: {said} (mine.py, line {line}: {code})",
                      evidence={"text": torch_says or TEXT, "where": [{"line": line, "code": code}]})  # fmt: skip
    found = attach.explained(finding, source).evidence.get("explanation") or {}
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("body", "cause", "fix"),
    [
        ("return extension.bias_relu(x, self.gemm.bias)", "Line 9 makes `self.gemm` with bias=False, so `self.gemm.bias` is None.",
         "`self.bias`, which line 13 makes"),
        ("return extension.bias_relu(x, self.conv.bias)", "Line 10 makes `self.conv` with bias=False", "`self.bias`"),
        ("b = self.gemm.bias\nreturn extension.bias_relu(x, b)", "b is what line 15 gives it. Line 9 makes", "`self.bias`"),
        ("return extension.bias_relu(x, self.later)", "`self.later` is None: line 12 gives it no other value.", "tensor"),
        ("return extension.bias_relu(x, silent(x))", "silent (line 4) hands back nothing", "End silent with `return`"),
        ("return extension.bias_relu(x, scale)", "scale is None where forward (line 14) is called without it.", "Hand scale over"),
        ("y = None\nreturn extension.bias_relu(x, y)", "y is None since line 15.", "before this line"),
    ],
)  # fmt: skip
def test_an_argument_of_a_function_in_cpp(body: str, cause: str, fix: str) -> None:
    found = told(body)
    assert cause in str(found["cause"]) and fix in str(found["fix"]), found
    assert "one by one and in order" not in str(found["fix"])


def test_a_model_without_a_bias_of_its_own() -> None:
    found = told("return extension.bias_relu(x, self.gemm.bias)", "pass")
    assert str(found["fix"]).startswith("Leave bias=False away")


def test_an_operation_of_pytorch() -> None:
    found = told("return self.gemm(x) + self.gemm.bias",
                 torch_says="unsupported operand type(s) for +: 'Tensor' and 'NoneType'")  # fmt: skip
    assert "so `self.gemm.bias` is None" in str(found["cause"])


def test_what_is_not_known_is_told_as_before() -> None:
    for body in ("return extension.bias_relu(x, self.full.bias)", "return extension.bias_relu(x, x.grad)"):
        assert "one by one and in order" in str(told(body)["fix"])
