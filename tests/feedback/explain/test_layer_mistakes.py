"""A model that hands on its own input where the result of its layer is meant."""

from typing import Any

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

SOURCE = '''source = r"""
torch::Tensor bias_relu(torch::Tensor x, torch::Tensor bias) {
    TORCH_CHECK(bias.size(0) == x.size(-1), "bias must have one element for each column");
    return x;
}
"""
module = load_inline("a", "torch::Tensor bias_relu(torch::Tensor x, torch::Tensor bias);", source, functions=["bias_relu"])


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.gemm = nn.Linear(n, m, bias=False)
        self.bias = nn.Parameter(torch.randn(m))

    def forward(self, x):
        return module.bias_relu(self.gemm(x), self.bias)
'''
CALL = "module.bias_relu(self.gemm(x), self.bias)"
REFUSED = "RuntimeError: bias must have one element for each column (s.py, line 17: return ...)"


def told(source: str, status: Status = Status.RAISED, message: str = REFUSED) -> dict[str, Any]:
    found = attach.explained(Finding("odd sizes", status, message), source)
    return found.evidence.get("explanation") or {"rule": ""}


@pytest.mark.parametrize(
    ("call", "x"),
    [
        ("module.bias_relu(x, self.bias)", "x"),
        ("module.bias_relu(x.contiguous(), self.bias)", "x"),
        ("module.bias_relu(x=x, bias=self.bias)", "x"),
    ],
)
@pytest.mark.parametrize("status", [Status.RAISED, Status.WRONG_SHAPE, Status.WRONG_OUTPUT])
def test_a_layer_that_nothing_calls(call: str, x: str, status: Status) -> None:
    found = told(SOURCE.replace(CALL, call), status)
    assert (found["rule"], found["line"]) == ("unused-layer", 17), found
    assert found["fix"] == f"Hand over `self.gemm({x})`." and "line 13" in found["cause"]


@pytest.mark.parametrize("status", [Status.RAISED, Status.WRONG_SHAPE, Status.WRONG_OUTPUT])
def test_a_layer_whose_result_nothing_uses(status: Status) -> None:
    source = SOURCE.replace(
        f"        return {CALL}", "        y = self.gemm(x)\n        return module.bias_relu(x, self.bias)"
    )
    found = told(source, status)
    assert (found["rule"], found["line"]) == ("unused-layer", 18), found
    assert found["fix"] == "Hand over `y`." and "`y`, which line 17 makes by self.gemm" in found["cause"]
    used = source.replace("module.bias_relu(x, self.bias)", "module.bias_relu(x, self.bias) + y")
    assert told(used, status)["rule"] != "unused-layer"


def test_an_input_under_another_name() -> None:
    source = SOURCE.replace(
        f"        return {CALL}", "        y = x\n        return module.bias_relu(y, self.bias)"
    )
    assert told(source)["fix"] == "Hand over `self.gemm(y)`."


@pytest.mark.parametrize(
    "body",
    [
        "return module.bias_relu(F.linear(x, self.gemm.weight), self.bias)",
        "x = F.linear(x, self.other)\n        return module.bias_relu(x, self.bias)",
        "for layer in self.children():\n            y = layer(x)\n        return module.bias_relu(x, self.bias)",
        "return module.bias_relu(getattr(self, 'gemm')(x), self.bias)",
    ],
)
def test_nothing_is_said_where_the_layer_may_be_used(body: str) -> None:
    assert told(SOURCE.replace(f"return {CALL}", body))["rule"] != "unused-layer"


def test_a_check_is_not_blamed_for_what_a_line_of_python_hands_over() -> None:
    found = told(SOURCE.replace(CALL, "module.bias_relu(self.gemm(x), self.bias[1:])"))
    assert found["rule"] == "check-refused" and "refused what line 17 hands over" in found["cause"]
    assert "must be accepted" not in found["cause"]
    direct = told(SOURCE, message="RuntimeError: bias must have one element for each column")
    assert "refused an input that must be accepted" in direct["cause"]


def test_a_check_that_refuses_views_is_told_to_take_them() -> None:
    source = SOURCE.replace("bias must have", "x must be contiguous; bias must have")
    message = "RuntimeError: x must be contiguous (m.py, line 17: forward)"
    check = 'TORCH_CHECK(x.is_contiguous(), "x must be contiguous");'
    before, _, after = source.partition("TORCH_CHECK(")
    found = told(f"{before}{check}{after[after.index(';') + 1 :]}", message=message)
    assert found["rule"] == "check-refused" and "x is one here" in found["cause"]
    assert "`x.contiguous()` is a copy" in found["fix"]
