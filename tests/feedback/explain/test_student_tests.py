"""A student's test that a right kernel fails: tensors of two types, and the tolerance that nobody gave."""

from typing import Any

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

TEST = """import torch


def test(kernel, claim):
    x = torch.randn(9)
    out, best = kernel(x), x.double() * 2
    assert torch.allclose(out, best)
"""
OF_TYPES = "RuntimeError: Float did not match Double"
ASSERTED = "AssertionError"


def told(call: str, error: str) -> dict[str, Any]:
    message = f"Line 4: The test fails on a right kernel: {error} (line 7: assert). A test must let every right kernel pass."
    finding = Finding("claim: accurate", Status.WRONG_ANSWER, message)
    source = TEST.replace("torch.allclose(out, best)", call)
    return attach.explained(finding, source).evidence.get("explanation") or {"rule": ""}


@pytest.mark.parametrize(
    ("call", "error", "fix"),
    [
        ("torch.allclose(out, best)", OF_TYPES, "`torch.allclose(out.double(), best, rtol=..., atol=...)`"),
        ("torch.allclose(best, out)", "RuntimeError: Double did not match Float", "`torch.allclose(best, out.double(), rtol"),
        ("torch.isclose(out, best, rtol=1e-6, atol=1e-6).all()", OF_TYPES,
         "`torch.isclose(out.double(), best, rtol=1e-06, atol=1e-06)`"),
        ("torch.testing.assert_close(out, best)",
         "AssertionError: The values for attribute 'dtype' do not match: torch.float32 != torch.float64.",
         "`torch.testing.assert_close(out.double(), best, rtol=..., atol=...)`"),
    ],
)  # fmt: skip
def test_two_types(call: str, error: str, fix: str) -> None:
    found = told(call, error)
    assert found["rule"] == "two-types" and found["line"] == 7, found
    assert fix in found["fix"] and "float32" in found["cause"]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("torch.allclose(out.double(), best)", "without `atol` allows 1e-8"),
        ("torch.allclose(out.double(), best, rtol=1e-6)", "without `atol` allows 1e-8"),
        ("torch.isclose(out.double(), best, 1e-6).all()", "without `atol` allows 1e-8"),
        ("torch.testing.assert_close(out.double(), best)", "allows 1e-7"),
    ],
)
def test_the_tolerance_that_nobody_gave(call: str, says: str) -> None:
    found = told(call, ASSERTED)
    assert found["rule"] == "usual-atol" and says in found["cause"], found


def test_other_failures_on_a_right_kernel_are_not_explained_so() -> None:
    assert told("torch.allclose(out.double(), best, rtol=1e-6, atol=1e-6)", ASSERTED)["rule"] == ""
    assert told("torch.equal(out, best.float())", ASSERTED)["rule"] == ""
    assert told("torch.allclose(out, best.long())", "RuntimeError: Float did not match Long")["rule"] == ""


LOST = """import torch


def check(out, best, tol):
    assert {}


def test(kernel, claim):
    x = torch.randn(9)
    check(kernel(x), x, 1e-6)
"""


@pytest.mark.parametrize(
    ("call", "told_it"),
    [
        ("torch.allclose(out.double(), best.double())", True),
        ("torch.allclose(out.double(), best.double(), rtol=tol, atol=tol)", False),
        ("torch.allclose(out.double(), best.double(), rtol=1e-3)", False),
        ("(out - best).abs().max() < tol", False),
    ],
)
def test_a_tolerance_that_is_given_and_not_used(call: str, *, told_it: bool) -> None:
    for said in (
        "Line 8: It passes on a kernel that is off by 5e-6 of a result, where 1e-6 is claimed. Which tolerance would show that?",
        "Line 8: The test fails on a right kernel: AssertionError (line 5: assert). A test must let every right kernel pass.",
    ):
        finding = Finding("claim: accurate", Status.WRONG_ANSWER, said)
        found = attach.explained(finding, LOST.format(call)).evidence.get("explanation") or {"rule": ""}
        assert (found["rule"] == "tolerance-not-used") is told_it, found
        assert not told_it or (found["line"], found["fix"]) == (5, "Hand it over: `rtol=tol, atol=tol`.")


WRAPPED = """TESTS = {
    "pairs": (lambda x: EXPECTED, [torch.randn(200)]),
}
"""


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ("x + torch.roll(x, -1)", ("its last element is x[0]", "`torch.roll(x, -1)`")),
        ("x + x.roll(-1)", ("its last element is x[0]", "`x.roll(-1)`")),
        ("x - torch.roll(x, 1)", ("its first element is x[-1]",)),
        ("x + x.roll(-1, 0)", ("its last element is x[0]",)),
    ],
)
def test_a_roll_that_wraps_round(expected: str, words: tuple[str, ...]) -> None:
    message = (
        "Line 2: The test fails on a right kernel: AssertionError: pairs (line 9: assert). Of 200 elements only the last, [199], "
        "differs: the right kernel gives 1, and the test expects 2. A test must let every right kernel pass."
    )
    finding = Finding("test of pairs", Status.WRONG_ANSWER, message)
    found = attach.explained(finding, WRAPPED.replace("EXPECTED", expected)).evidence["explanation"]
    assert (found["rule"], found["line"]) == ("wraps-round", 2)
    assert found["cause"].startswith("Of 200 elements only the last, [199], differs. ")
    assert all(one in found["cause"] for one in words)
    other = attach.explained(finding, WRAPPED.replace("EXPECTED", "x + x")).evidence["explanation"]
    assert other["rule"] == "expected-value"


@pytest.mark.parametrize(
    ("expected", "given", "rule", "fix"),
    [
        ("x ** 2", "1.595969e+18", "expected-too-narrow", "`x.long() ** 2`"),
        ("x * x", "-1.5e+18", "expected-too-narrow", "`x.long() * x`"),
        ("x ** 2", "12", "expected-value", "Work out that one element"),
        ("x.long() ** 2", "1.5e+18", "expected-value", "Work out that one element"),
        ("x.flip(0)", "-0.92", "turned-whole", "`x.split(n)`"),
        (
            "torch.cat([b.flip(0) for b in x.split(64)])",
            "-0.92",
            "expected-value",
            "Work out that one element",
        ),
    ],
)
def test_what_a_test_expects_that_the_right_kernel_does_not_give(
    expected: str, given: str, rule: str, fix: str
) -> None:
    message = (
        "Line 2: The test fails on a right kernel: AssertionError: pairs (line 9: assert). All 200 elements differ; at [0] "
        f"the right kernel gives {given}, and the test expects 7. A test must let every right kernel pass."
    )
    source = WRAPPED.replace("EXPECTED", expected).replace(
        "torch.randn(200)", "torch.ones(200, dtype=torch.int32)"
    )
    finding = Finding("test of pairs", Status.WRONG_ANSWER, message)
    found = attach.explained(finding, source).evidence["explanation"]
    assert (found["rule"], found["line"]) == (rule, 2) and fix in found["fix"]


IN_A_DICT = """import torch

TESTS = {
    "transpose": (lambda x: x.t, [torch.randn(11, 17)]),
}


def test(kernel, name):
    expected, inputs = TESTS[name]
    for x in inputs:
        assert torch.equal(kernel(x.cuda()), expected(x))
"""
TWO_DEVICES = "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu! (in aten::equal)"
METHOD = "TypeError: equal(): argument 'other' (position 2) must be Tensor, not builtin_function_or_method"


@pytest.mark.parametrize(
    ("error", "rule", "line", "fix"),
    [
        (TWO_DEVICES, "result-on-the-gpu", 11, "`kernel(x.cuda()).cpu()`"),
        (METHOD, "method-not-called", 4, "`x.t()`"),
        ("TypeError: something else", "", 0, ""),
    ],
)
@pytest.mark.parametrize(
    "compared", ["torch.equal(kernel(x.cuda()), expected(x))", "(kernel(x.cuda()) == expected(x)).all()"]
)
def test_what_a_right_kernel_is_compared_with(
    compared: str, error: str, rule: str, line: int, fix: str
) -> None:
    source = IN_A_DICT.replace("torch.equal(kernel(x.cuda()), expected(x))", compared)
    message = f"Line 4: The test fails on a right kernel: {error} (line 11: assert). A test must let every right kernel pass."
    finding = Finding("test of transpose", Status.WRONG_ANSWER, message)
    found = attach.explained(finding, source).evidence.get("explanation") or {
        "rule": "",
        "line": 0,
        "fix": "",
    }
    assert isinstance(found, dict)
    assert (found["rule"], found["line"]) == (rule, line) and fix in found["fix"]


@pytest.mark.parametrize("right", ["kernel(x.cuda()).cpu()", "kernel(x)"])
def test_a_result_that_came_back_is_not_blamed(right: str) -> None:
    source = IN_A_DICT.replace("kernel(x.cuda())", right).replace("x.t,", "x.t(),")
    for error in (TWO_DEVICES, METHOD):
        message = f"Line 4: The test fails on a right kernel: {error} (line 11: assert). A test must let every right kernel pass."
        found = attach.explained(Finding("test of transpose", Status.WRONG_ANSWER, message), source)
        assert "explanation" not in found.evidence


def test_an_input_is_quoted_as_it_stands_in_the_file() -> None:
    message = (
        "Line 2: The test fails on a right kernel: KernelError: RuntimeError: pairs: x must be a CUDA tensor of torch.int32 with "
        "1 dimension; this one is of Long with 1 (line 9: assert). A test must let every right kernel pass."
    )
    source = WRAPPED.replace("torch.randn(200)", "torch.arange(100_000, 100_200)")
    found = attach.explained(Finding("test of pairs", Status.WRONG_ANSWER, message), source).evidence[
        "explanation"
    ]
    assert found["rule"] == "input-dtype" and found["cause"].startswith(
        "`torch.arange(100_000, 100_200)` makes"
    )


MOVED = IN_A_DICT.replace("kernel(x.cuda())", "kernel(x.cuda()).cpu()").replace(
    "lambda x: x.t", "lambda x: x + torch.zeros(1)"
)


@pytest.mark.parametrize(
    ("made", "right"),
    [
        ('torch.randn(11, 17, device="cuda")', "torch.randn(11, 17)"),
        ("torch.randn(11, 17).cuda()", "torch.randn(11, 17)"),
        ('torch.randn(11, 17).to("cuda")', "torch.randn(11, 17)"),
        ("torch.randn(11, 17)", ""),
    ],
)
@pytest.mark.parametrize(
    ("line", "why"),
    [
        (11, "`expected(x)` is computed there, too, while `.cpu()` brings"),
        (4, "`torch.zeros(1)` makes its tensor on the CPU"),
        (8, ""),
    ],
)
def test_an_input_that_is_made_on_the_gpu(made: str, right: str, line: int, why: str) -> None:
    source = MOVED.replace("[torch.randn(11, 17)]", f"[torch.randn(3, 3), {made}]")
    message = f"Line 4: The test fails on a right kernel: {TWO_DEVICES} (line {line}: x). A test must let every right kernel pass."
    found = attach.explained(Finding("test of transpose", Status.WRONG_ANSWER, message), source)
    told = found.evidence.get("explanation") or {"rule": ""}
    assert isinstance(told, dict)
    assert (told["rule"] == "input-on-the-gpu") is bool(right and why)
    if right and why:
        assert (
            told["line"] == 4
            and why in told["cause"]
            and f"`x.cuda()`. Make them on the CPU: `{right}`." in told["fix"]
        )


@pytest.mark.parametrize(
    ("compared", "fix"),
    [
        ("torch.equal(kernel(x, 2.0).cpu(), best)", "write `best.cpu()` as well"),
        ("(best == kernel(x, 2.0).cpu()).all()", "write `best.cpu()` as well"),
        ("torch.equal(kernel(x, 2.0).cpu(), best.cpu())", ""),
        ("torch.equal(kernel(x, 2.0), best)", ""),
    ],
)
def test_one_of_two_that_is_brought_back(compared: str, fix: str) -> None:
    source = f'def test(kernel, claim):\n    x = torch.randn(9, device="cuda")\n    best = x + x\n    assert {compared}\n'
    message = f"Line 1: The test fails on a right kernel: {TWO_DEVICES} (line 4: x). A test must let every right kernel pass."
    found = attach.explained(Finding("claim: repeatable", Status.WRONG_ANSWER, message), source)
    told = found.evidence.get("explanation") or {"rule": "", "fix": ""}
    assert isinstance(told, dict)
    assert (told["rule"] == "one-brought-back") is bool(fix) and fix in told["fix"]
