"""What is made of weights or inputs once, and kept where it must be made in every call."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

MODEL = """class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.gemm = nn.Linear(n, m, bias=False)
        self.bias = nn.Parameter(torch.randn(m))
        {init}

    def forward(self, x):
        {forward}
"""


def told(
    init: str, forward: str, message: str = "Call 2", status: Status = Status.WRONG_OUTPUT
) -> tuple[int, str, str]:
    source = MODEL.format(init=init, forward=forward)
    found = attach.explained(Finding("new weights", status, message), source).evidence.get("explanation")
    if not isinstance(found, dict) or found["rule"] != "kept-copy":
        return 0, "", ""
    return int(found["line"]), str(found["cause"]), str(found["fix"])


@pytest.mark.parametrize(
    ("init", "forward", "fix"),
    [
        ("self.w = self.gemm.weight.detach().t().contiguous()", "return x @ self.w", "Call the layer"),
        ("self.w: torch.Tensor = self.gemm.weight.data", "return x @ self.w.t()", "Call the layer"),
        ("self.w = self.gemm.weight.t().contiguous().cuda()", "return x @ self.w", "Call the layer"),
        ("self.w, self.b = self.gemm.weight.data, 0", "return x @ self.w.t()", "Call the layer"),
        ("w = self.gemm.weight; self.w = w.t()", "return x @ self.w", "Call the layer"),
        ("w = self.gemm.weight.t(); self.w = w", "return x @ self.w", "Call the layer"),
        ("self.b = self.bias.tolist()", "return f(self.gemm(x), self.b)", "Make it in forward"),
        ("self.b = 2 * self.bias", "return f(self.gemm(x), self.b)", "Make it in forward"),
        ("self.register_buffer('b', torch.exp(self.bias))", "return f(self.gemm(x), self.b)", "Make it in forward"),
    ],
)  # fmt: skip
def test_what_is_made_of_the_weights_once(init: str, forward: str, fix: str) -> None:
    line, cause, fixed = told(init, forward)
    assert line == 6 and "once, in `__init__`" in cause and "line 9 works with the old ones" in cause
    assert fix in fixed and ("moved" in cause) != (".cuda()" in init)


@pytest.mark.parametrize(
    ("init", "forward"),
    [
        ("self.w = self.gemm.weight", "return x @ self.w.t()"),
        ("self.w = self.gemm.weight.contiguous()", "return x @ self.w.t()"),
        ("self.both = (self.gemm.weight, self.bias)", "return x @ self.both[0].t()"),
        ("self.f = partial(linear, weight=self.gemm.weight)", "return self.f(x)"),
        ("self.f = lambda x: x @ self.gemm.weight.t()", "return self.f(x)"),
        ("self.n = self.gemm.weight.shape[0] * 2", "return self.gemm(x) * self.n"),
        ("self.w = torch.empty_like(self.gemm.weight.data)", "return self.gemm(x) * self.w"),
        ("self.w = nn.Parameter(self.gemm.weight.data)", "return x @ self.w.t()"),
        ("self.w = self.gemm.weight.data", "return self.gemm(x) * self.w.size(0)"),
        ("self.w = self.gemm.weight.data.to(DEVICE)", "return x @ self.w.t()"),
        (
            "self.w = self.gemm.weight.t().contiguous()",
            "self.w.copy_(self.gemm.weight.t()); return x @ self.w",
        ),
        ("self.w = self.gemm.weight.t().contiguous()", "self.w = self.gemm.weight.t(); return x @ self.w"),
        ("self.w = self.gemm.weight.t().contiguous()", "self.w[:] = self.gemm.weight.t(); return x @ self.w"),
        ("self.w = None", "self.w = self.w or self.gemm(x); return self.w"),
        ("self.w = None", "if self.w is None: self.w = torch.empty_like(x)\n        return f(x, self.w)"),
        ("self.w = None", "if self.w is None: self.w = self.gemm.weight\n        return x @ self.w.t()"),
        ("self.w = {}", "if id(x) not in self.w: self.w[id(x)] = self.gemm(x)\n        return self.w[id(x)]"),
        ("self.w = None", "if not hasattr(x, 'w'): x.w = self.gemm(x)\n        return x.w"),
        (
            "self.w = None",
            "if self.w is None: self.w = record(x)\n        self.w.x.copy_(x)\n        return self.w()",
        ),
        ("self.w = None", "w = None\n        if w is None: w = self.gemm(x)\n        return w"),
    ],
)
def test_nothing_is_said_where_it_follows_the_weights_or_may(init: str, forward: str) -> None:
    assert told(init, forward) == (0, "", "")


@pytest.mark.parametrize(
    ("asks", "made"),
    [
        ("self.k is None", "self.k = self.gemm.weight.t().contiguous()"),
        ("not self.k", "self.k = f(self.gemm(x))"),
        ("not hasattr(self, 'k')", "self.k = self.bias * 2"),
        ("'k' not in KEPT", "KEPT['k'] = self.gemm(x)"),
        ("x.shape not in self.k", "self.k[x.shape] = self.gemm(x)"),
    ],
)
def test_what_the_first_call_made_and_kept(asks: str, made: str) -> None:
    forward = f"if {asks}:\n            {made}\n        return self.k"
    line, cause, fix = told("self.k = None", forward)
    assert line == 10 and "it is kept" in cause and "line 9" in fix
    assert told("self.k = None", forward, "First wrong: element [0] is 1")[0] == 0  # the first call fails
    assert told("self.k = None", forward, "", Status.NO_KERNEL)[0] == 10


def test_a_property_that_is_kept() -> None:
    forward = "return x @ self.w\n\n    @functools.cached_property\n    def w(self):\n        return self.gemm.weight.t()"
    line, cause, fix = told("pass", forward)
    assert line == 11 and "`self.gemm.weight`" in cause and "`@property`" in fix
