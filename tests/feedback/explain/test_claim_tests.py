"""What is said of a statement in a student's test of a claim."""

from typing import Any

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

SOURCE = """import torch


def want(x):
    return torch.sigmoid(x) + x


def close(out, x):
    assert (out - want(x)).abs().max() < 1e-6


def test(kernel, claim):
    x = torch.randn(9)
    if claim == "here":
        BODY
    if claim == "layout":
        torch.equal(x, x)
"""
LINE = 15
PASSES = "Line 14: It passes on a kernel that {}. Which assertion would show that?"


def told(body: str, message: str) -> dict[str, Any]:
    source = SOURCE.replace("BODY", body.replace("\n", "\n        "))
    return attach.explained(Finding("claim: here", Status.WRONG_ANSWER, message), source).evidence.get(
        "explanation"
    ) or {"rule": ""}


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("torch.equal(kernel(x), x)", LINE),
        ("out = kernel(x)\ntorch.allclose(out, x)", LINE + 1),
        ("out = kernel(x)\n(out == x).all()", LINE + 1),
        ("kernel(x).shape == x.shape", LINE),
        ("not torch.equal(kernel(x), x)", LINE),
    ],
)
def test_an_answer_that_nothing_looks_at(body: str, line: int) -> None:
    found = told(body, PASSES.format("writes its result over its input"))
    assert (found["rule"], found["line"]) == ("answer-dropped", line), found


def test_the_other_lines_are_named_and_helpers_are_read() -> None:
    both = told("a = kernel(x)\ntorch.equal(a, x)\ntorch.equal(x, a)", PASSES.format("changes its input"))
    assert both["fix"] == f"Write `assert` in front of it, and in line {LINE + 2}, too."
    helper = SOURCE.replace("    assert (out", "    (out").replace("BODY", "close(kernel(x), x)")
    finding = Finding("claim: here", Status.WRONG_ANSWER, PASSES.format("clamps x"))
    found = attach.explained(finding, helper).evidence["explanation"]
    assert (found["rule"], found["line"]) == ("answer-dropped", 9)


@pytest.mark.parametrize("body", ["assert torch.equal(kernel(x), x)", "kernel(x)", "close(kernel(x), x)"])
def test_statements_that_assert_or_only_call(body: str) -> None:
    assert told(body, PASSES.format("clamps x"))["rule"] != "answer-dropped"


@pytest.mark.parametrize(
    ("ends", "body", "named"),
    [
        ("return (out", "close(kernel(x), x)", True),
        ("return (out", "assert close(kernel(x), x)", False),
        ("return (out", "good = close(kernel(x), x)\nassert good", False),
        ("assert (out", "close(kernel(x), x)", False),
    ],
)
def test_a_helper_that_answers_and_asserts_nothing(ends: str, body: str, named: bool) -> None:
    source = SOURCE.replace("    assert (out", f"    {ends}").replace(
        "BODY", body.replace("\n", "\n        ")
    )
    finding = Finding("claim: here", Status.WRONG_ANSWER, PASSES.format("clamps x"))
    found = attach.explained(finding, source).evidence.get("explanation") or {"rule": "", "line": 0}
    assert (found["rule"] == "answer-dropped") is named
    assert not named or (found["line"] == 9 and f"line {LINE} does nothing" in found["cause"])


def test_a_function_of_the_files_own_may_assert() -> None:
    source = SOURCE.replace("def close(", "def allclose(").replace("BODY", "allclose(kernel(x), x)")
    finding = Finding("claim: here", Status.WRONG_ANSWER, PASSES.format("clamps x"))
    found = attach.explained(finding, source).evidence.get("explanation") or {"rule": ""}
    assert found["rule"] != "answer-dropped"


GAPS = "reads the memory of a view with gaps as if it had none"
TURNED = "reads a transposed view row by row"
BEGINS = "takes every tensor to begin at a multiple of 16 bytes"


@pytest.mark.parametrize(
    ("body", "fault", "fix"),
    [
        ("close(kernel(x[::2].contiguous(), 2.0), x)", GAPS, "`kernel(x[::2], 2.0)`"),
        ("for v in [x.t()]:\n    close(kernel(v.contiguous()), v)", TURNED, "`kernel(v)`"),
        ("out = kernel(x[1:].clone())", BEGINS, "`kernel(x[1:])`"),
        ("for v in [x.t()]:\n    v = v.contiguous()\n    close(kernel(v), v)", GAPS, "Leave this line out"),
        ("v = x[::2].clone()\nclose(kernel(v, 2.0), v)", GAPS, "Hand over `x[::2]` itself"),
        ("v = x[::2].clone()\nclose(kernel(x[::2], 2.0), kernel(v))", GAPS, ""),
        ("v = x[::2]\nfirst = kernel(v)\nv = v.contiguous()\nassert (first == kernel(v)).all()", GAPS, ""),
        ("v = x[::2].contiguous()\nclose(kernel(x), v)", GAPS, ""),
        ("out = kernel(x[1:].contiguous())", BEGINS, ""),
        ("out = kernel(x.t().clone())", TURNED, ""),
        ("out = kernel(x[::2]).contiguous()", GAPS, ""),
        ("out = kernel(x.contiguous())", "clamps x", ""),
    ],
)
def test_a_view_that_the_kernel_never_gets(body: str, fault: str, fix: str) -> None:
    found = told(body, PASSES.format(fault))
    assert (found["rule"] == "view-made-plain") == bool(fix) and fix in found.get("fix", ""), found


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("assert torch.equal(kernel(x), torch.sigmoid(x) + x)", True),
        ("y = torch.exp(x)\nassert torch.equal(kernel(x), y)", True),
        ("out = kernel(x)\nassert (out == want(x)).all()", True),
        ("assert torch.all(kernel(x) == x.tanh())", True),
        ("assert kernel(x).equal(want(x))", True),
        ("assert torch.equal(kernel(x), 2 * x)", False),
        ("assert torch.equal(kernel(x), kernel(x))", False),
        ("assert torch.allclose(kernel(x), want(x), 1e-6, 1e-6)", False),
    ],
)
def test_the_same_bits_as_pytorch(body: str, said: bool) -> None:
    line = LINE + body.count("\n")
    error = (
        f"Line 14: The test fails on a right kernel: AssertionError (line {line}: {body}). A test must let"
    )
    found = told(body, error)
    assert (found["rule"] == "same-bits") == said, found
    if said:
        assert found["line"] == line and "last bit" in found["cause"]


HALF = "Line 14: It passes on a kernel that refuses half precision. Which input would show that?"


@pytest.mark.parametrize(
    ("body", "fix"),
    [
        ('with torch.autocast("cuda"):\n    out = kernel(x, 2.0)', "`kernel(x.half(), 2.0)`"),
        ("kernel(x, 2.0)", "`kernel(x.half(), 2.0)`"),
        ("kernel(x.half(), 2.0)", ""),
        ("kernel(x.to(torch.bfloat16), 2.0)", ""),
        ("layer = torch.nn.Linear(9, 9)\nkernel(layer(x), 2.0)", ""),
    ],
)
def test_an_input_that_is_never_of_half_precision(body: str, fix: str) -> None:
    found = told(body, HALF)
    assert (found["rule"] == "never-half") == bool(fix), found
    assert fix in found.get("fix", "")


def test_an_argument_of_the_kernel_that_is_left_out() -> None:
    message = (
        "Line 14: The test fails on a right kernel: KernelError: TypeError: careful() missing 1 required positional "
        "argument: 'scale' (line 15: out = kernel(x[:0])). A test must let every right kernel pass."
    )
    found = told("out = kernel(x[:0])", message)
    assert (found["rule"], found["line"], found["fix"]) == (
        "argument-left-out", LINE, "Hand it over: `kernel(x[:0], scale)`."
    )  # fmt: skip


@pytest.mark.parametrize(
    ("body", "side"),
    [
        ("out = kernel(x)\nassert ((out - want(x)) <= 1e-6).all()", "small"),
        ("out, best = kernel(x), want(x)\ngap = out - best\nassert gap.max() < 1e-6", "small"),
        ("assert (kernel(x) - want(x)).max().item() < 1e-6", "small"),
        ("out = kernel(x)\nassert 1e-6 > torch.max((want(x) - out) / 3)", "large"),
        ("assert torch.max(want(x) - kernel(x)) <= 1e-6", "large"),
    ],
)
def test_a_difference_that_keeps_its_sign(body: str, side: str) -> None:
    found = told(body, PASSES.format(f"gives results that are 1 too {side}"))
    assert found["rule"] == "one-sided" and found["code"] in body, found
    assert f"too {side} passes: `.abs()` is missing" in found["cause"]


@pytest.mark.parametrize(
    "body",
    [
        "out = kernel(x)\nassert ((out - want(x)).abs() <= 1e-6).all()",
        "out = kernel(x)\nassert -1e-6 < (out - want(x)).min() and (out - want(x)).max() < 1e-6",
        "assert ((kernel(x) - want(x)) ** 2).max() < 1e-6",
        "assert abs((kernel(x) - want(x)).max()) < 1e-6",
        "n = len(x) - 1\nassert n < 9\nassert torch.equal(kernel(x), x)",
        "assert torch.norm(kernel(x) - want(x)) < 1e-6",
    ],
)
def test_a_difference_without_sign_is_left_alone(body: str) -> None:
    assert told(body, PASSES.format("gives results that are 1 too small"))["rule"] != "one-sided"


def test_a_tuple_that_is_asserted() -> None:
    found = told('assert (kernel(x).shape == x.shape, "wrong shape")', PASSES.format("gives another shape"))
    assert (found["rule"], found["line"]) == ("tuple-asserted", LINE)
    assert found["fix"] == "Take the brackets away: `assert kernel(x).shape == x.shape, 'wrong shape'`."
    plain = told('assert (kernel(x).shape == x.shape), "wrong"', PASSES.format("gives another shape"))
    assert plain["rule"] != "tuple-asserted"


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("assert ((kernel(x) - x).abs() <= 1e-6).any()", LINE),
        ("out = kernel(x)\nassert out.shape == x.shape and torch.isclose(out, x).any()", LINE + 1),
        ("assert torch.any(kernel(x) == x)", LINE),
        ("assert not ((kernel(x) - x).abs() > 1e-6).any()", 0),
        ("assert ((kernel(x) - x).abs() <= 1e-6).all()", 0),
        ("assert kernel(x).any()", 0),
    ],
)
def test_one_right_element_is_not_enough(body: str, line: int) -> None:
    found = told(body, PASSES.format("overflows for large x"))
    assert (found["rule"] == "one-is-enough") == bool(line)
    assert found.get("line", 0) in (line, 10) or found["rule"] == "lets-it-pass"


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("assert kernel(x[:0]).numel() == 0", True),
        ("assert len(kernel(x[:0])) == 0", True),
        ("assert kernel(x[:0]).shape == x[:0].shape", False),
        ("out = kernel(x[:0])\nassert out.numel() == 0 and out.shape == x[:0].shape", False),
    ],
)
def test_a_number_of_elements_is_no_shape(body: str, named: bool) -> None:
    found = told(body, PASSES.format("gives no elements back, but in another shape"))
    assert (found["rule"] == "elements-alone") == named and (not named or found["line"] == LINE)


TABLE = """TESTS = {
    "squares": (lambda x: x.long() ** 2, []),
}


def test(kernel, name):
    expected, inputs = TESTS[name]
    for x in inputs:
        CHECK
"""
BY_ONE = (
    "Line 2: It passes on a kernel that gives results that are 1 too small. Which comparison would show that?"
)


@pytest.mark.parametrize(
    ("check", "rule"),
    [
        ("assert torch.allclose(kernel(x), expected(x))", "tolerance-too-wide"),
        ("assert torch.allclose(kernel(x), expected(x), rtol=0, atol=1)", "tolerance-too-wide"),
        ("assert (kernel(x) - expected(x)).abs().max() <= 1", "tolerance-too-wide"),
        ("assert ((kernel(x) - expected(x)).abs() <= 1 + expected(x).abs()).all()", "tolerance-too-wide"),
        ("assert ((kernel(x) - expected(x)).abs() <= 1e-6 * (1 + expected(x).abs())).all()", ""),
        ("assert torch.equal(expected(x), expected(x))", "with-itself"),
        ("assert kernel(x).tolist() == kernel(x).tolist()", "with-itself"),
        ("torch.equal(kernel(x), expected(x))", "answer-dropped"),
        ("same = torch.equal(kernel(x), expected(x))", "answer-dropped"),
        ('assert (torch.equal(kernel(x), expected(x)), "wrong")', "tuple-asserted"),
        ("assert torch.allclose(kernel(x), expected(x), rtol=1e-9)", ""),
        ("assert torch.equal(kernel(x), expected(x))", ""),
    ],
)
def test_a_comparison_in_the_test_of_a_table_is_named_where_it_stands(check: str, rule: str) -> None:
    finding = attach.explained(
        Finding("test of squares", Status.WRONG_ANSWER, BY_ONE), TABLE.replace("CHECK", check)
    )
    found = finding.evidence.get("explanation") or {"rule": "", "line": 9}
    assert (found["rule"], found["line"]) == (rule, 9)
    assert bool(rule) != finding.message.endswith("Which comparison would show that?")


@pytest.mark.parametrize(
    ("body", "rule", "fix"),
    [
        ("assert (torch.equal(x, x), x.dim() == 1)", "tuple-asserted", "`assert torch.equal(x, x) and x.dim() == 1`"),
        ("assert (x.dim() == 1 or x.dim() == 2, torch.equal(x, x))", "tuple-asserted", "`assert (x.dim() == 1 or x.dim() == 2) and torch.equal(x, x)`"),
        ("assert (torch.equal(x, x), 'wrong')", "tuple-asserted", "Take the brackets away"),
        ("assert (torch.equal(x, x), 'wrong: {}'.format(x))", "tuple-asserted", "Take the brackets away"),
        ("assert (kernel(x) == x).all", "method-asserted", "`(kernel(x) == x).all()`"),
        ("assert x.dim() == 1 and (kernel(x) == x).all", "method-asserted", "`(kernel(x) == x).all()`"),
        ("assert (kernel(x) == x).all()", "", ""),
        ("assert x.requires_grad", "", ""),
    ],
)  # fmt: skip
def test_an_assertion_that_is_always_true(body: str, rule: str, fix: str) -> None:
    found = told(body, PASSES.format("writes its result over its input"))
    assert found["rule"].replace("lets-it-pass", "") == rule and (not rule or fix in found["fix"]), found


@pytest.mark.parametrize(
    ("body", "claim", "said"),
    [
        ("close(kernel(x.half(), 2.0), x)", "claim: autocast", True),
        ("close(kernel(x.half(), 2.0), x)", "claim: layout", False),
        ('with torch.autocast("cuda"): close(kernel(x.half(), 2.0), x)', "claim: autocast", False),
    ],
)
def test_a_claim_about_autocast_without_autocast(body: str, claim: str, said: bool) -> None:
    message = (
        "Line 14: The test fails on a right kernel: KernelError: RuntimeError: expected a float32 tensor on a GPU "
        f"(tested_kernels.py, line 99: return own.plain(x, scale)) (line {LINE}: {body}). A test must let"
    )
    finding = Finding(claim, Status.WRONG_ANSWER, message)
    found = attach.explained(finding, SOURCE.replace("BODY", body)).evidence.get("explanation") or {
        "rule": ""
    }
    assert (found["rule"] == "outside-of-autocast") == said, found
    if said:
        assert found["line"] == LINE and "stands outside of `torch.autocast`" in found["cause"]


def test_autocast_around_the_whole_branch() -> None:
    source = SOURCE.replace("BODY", "kernel(x.half())").replace(
        "def test(", '@torch.autocast("cuda")\ndef test('
    )
    message = (
        "Line 15: The test fails on a right kernel: KernelError: RuntimeError: expected a float32 tensor on a GPU "
        f"(line {LINE + 1}: kernel(x.half())). A test must let"
    )
    found = attach.explained(Finding("claim: autocast", Status.WRONG_ANSWER, message), source).evidence
    assert "outside-of-autocast" not in str(found)
