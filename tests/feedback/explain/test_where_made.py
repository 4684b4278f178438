"""Values of the wrong kind: the line that made them, not the call that stumbled over them."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

SOURCE = """from torch import nn

fused = extension.fused


class ModelNew(nn.Module):
    def __init__(self, size, scale):
        super().__init__()
        self.gemm = nn.Linear(size, size)
        self.scale = scale

    def forward(self, x):
        y = self.gemm(x)
        return fused(y, self.scale)
"""
FORM = "fused(): incompatible function arguments. The following argument types are supported:\\n    1. (arg0: torch.Tensor, arg1: float) -> torch.Tensor\\n\\nInvoked with: {}"


def told(old: str, new: str, given: str = "", message: str = "") -> tuple[int, str, str]:
    assert old in SOURCE
    source = SOURCE.replace(old, new)
    text = FORM.replace("\\n", "\n").format(given)
    line = (
        message
        or "TypeError: fused(): incompatible function arguments. (mine.py, line 14: return fused(y, self.scale))"
    )
    where = [{"line": 14}]
    finding = Finding(
        "a case",
        Status.RAISED,
        line,
        evidence={"text": f"TypeError: {text}" if given else line, "where": where},
    )
    found = attach.explained(finding, source).evidence.get("explanation") or {}
    return found.get("line", 0), found.get("cause", ""), found.get("fix", "")


TENSOR = "tensor([1.])"


@pytest.mark.parametrize(
    ("old", "new", "given", "line", "fix"),
    [
        ("self.scale = scale", "self.scale = scale,", f"{TENSOR}, (2.0,)", 10, "`self.scale = scale`"),
        ("self.scale = scale", 'self.scale = "2.0"', f"{TENSOR}, '2.0'", 10, "`self.scale = 2.0`"),
        ("y = self.gemm(x)", "y = self.gemm(x),", f"({TENSOR},), 2.0", 13, "`y = self.gemm(x)`"),
        ("y = self.gemm(x)", "y = x.contiguous", "<built-in method contiguous of Tensor>, 2.0", 13, "`y = x.contiguous()`"),
        ("y = self.gemm(x)", "y = [1.0, 2.0]", "[1.0, 2.0], 2.0", 13, "torch.tensor([1.0, 2.0])"),
    ],
)  # fmt: skip
def test_an_argument_of_the_wrong_kind_is_named_where_it_is_made(
    old: str, new: str, given: str, line: int, fix: str
) -> None:
    at, _, said = told(old, new, given)
    assert at == line and fix in said


def test_a_layer_in_a_tuple_is_named_where_it_is_made() -> None:
    message = "TypeError: 'tuple' object is not callable (mine.py, line 13: y = self.gemm(x))"
    line, cause, fix = told(
        "self.gemm = nn.Linear(size, size)", "self.gemm = nn.Linear(size, size),", message=message
    )
    assert line == 9 and "comma" in cause and fix.endswith("`self.gemm = nn.Linear(size, size)`.")


def test_a_name_that_hides_a_function_of_python() -> None:
    message = "TypeError: 'int' object is not callable (mine.py, line 15: return sum([y, x]))"
    new = "sum = 0\n        y = self.gemm(x)\n        return sum([y, x])"
    line, cause, _ = told("y = self.gemm(x)", new, message=message)
    assert line == 15 and "since line 13" in cause and "hides Python's function sum" in cause


def test_a_function_that_is_called_where_it_was_to_be_taken() -> None:
    text = FORM.replace("\\n", "\n").format("")
    message = (
        "TypeError: fused(): incompatible function arguments. (mine.py, line 3: fused = extension.fused())"
    )
    evidence = {"text": f"TypeError: {text}", "where": [{"line": 3}]}
    source = SOURCE.replace("fused = extension.fused", "fused = extension.fused()")
    finding = attach.explained(Finding("load", Status.IMPORT_ERROR, message, evidence=evidence), source)
    found = finding.evidence["explanation"]
    assert found["line"] == 3 and found["fix"] == "Write `fused = extension.fused`."


@pytest.mark.parametrize(
    "message", ["returned a tuple, not a tensor", "forward(x) is (tensor(1),), expected 1."]
)
def test_a_tuple_of_one_that_is_returned(message: str) -> None:
    source = SOURCE.replace("return fused(y, self.scale)", "return fused(y, self.scale),")
    finding = attach.explained(Finding("a case", Status.NOT_A_TENSOR, f"forward {message}"), source)
    assert finding.evidence["explanation"]["line"] == 14


def test_a_layer_in_a_tuple_is_no_part_of_the_model() -> None:
    source = SOURCE.replace("nn.Linear(size, size)", "nn.Linear(size, size),")
    message = "ModelNew has no parameter like the reference's gemm.weight [4, 4]"
    finding = attach.explained(Finding("a case", Status.MISSING_ENTRY, message), source)
    assert (finding.evidence["explanation"]["rule"], finding.evidence["explanation"]["line"]) == (
        "comma-makes-tuple",
        9,
    )


@pytest.mark.parametrize("kind", ["builtin_function_or_method", "function"])
def test_a_function_that_is_returned(kind: str) -> None:
    source = 'code = r"""\nint f(int n) { return n; }\n"""\n\n\ndef g(n):\n    return extension.f\n'
    finding = attach.explained(
        Finding("g", Status.WRONG_OUTPUT, f"The call returned a {kind}, expected 1."), source
    )
    assert finding.evidence["explanation"]["fix"] == "Call it: `return extension.f(n)`."


def test_a_function_of_a_module_among_numbers() -> None:
    source = (
        "import statistics\n\n\ndef summary(seconds):\n    return Timing(statistics.median, len(seconds))\n"
    )
    message = "Line 4: median is {'type': 'function'}, not a number of seconds or calls."
    finding = attach.explained(Finding("a case", Status.WRONG_ANSWER, message), source)
    assert finding.evidence["explanation"]["line"] == 5
    for right in ("statistics.median(seconds)", "math.pi"):
        text = source.replace("statistics.median", right).replace("import ", "import math, ")
        found = attach.explained(Finding("a case", Status.WRONG_ANSWER, message), text).evidence
        assert (found.get("explanation") or {}).get("rule") != "function-not-called"
