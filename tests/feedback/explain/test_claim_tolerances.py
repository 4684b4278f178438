"""What is said of a tolerance in a student's test of a claim."""

from typing import Any

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

SOURCE = """import torch

USUAL = 1e-4


def close(out, x, allowed):
    best = x.double()
    assert ((out - best).abs() <= allowed * (1 + best.abs())).all()


def test(kernel, claim):
    x = torch.randn(9)
    if claim == "here":
        best = x.double()
        BODY
"""
LINE = 15
CLAMPS = "Line 13: It passes on a kernel that clamps x before the exponential. Which input would show that?"


def told(body: str, message: str = CLAMPS, claimed: str = "1e-6") -> dict[str, Any]:
    source = SOURCE.replace("BODY", body.replace("\n", "\n        "))
    evidence = {"claimed": claimed} if claimed else {}
    found = attach.explained(Finding("claim: here", Status.WRONG_ANSWER, message, evidence=evidence), source)
    said = found.evidence.get("explanation") or {"rule": "", "cause": "", "fix": ""}
    assert not said["rule"] or "Which" not in found.message
    return said


@pytest.mark.parametrize(
    ("body", "line", "said"),
    [
        ("assert torch.allclose(kernel(x), best, rtol=1e-3)", LINE, "`rtol=1e-3` allows 1,000 times the 1e-6"),
        ("assert torch.allclose(kernel(x), best, 1e-6, 1e-4)", LINE, "`atol=1e-4` allows 100 times"),
        ("out = kernel(x)\ntorch.testing.assert_close(out, best, rtol=1e-6, atol=0.01)", LINE + 1, "`atol=1e-2`"),
        ("assert torch.allclose(kernel(x), best, atol=1e-6)", LINE, "without `rtol` takes 1e-05"),
        ("close(kernel(x), x, 1e-5)", LINE, "`1e-5` allows 10 times"),
        ("close(kernel(x), x, 1e-6)\nclose(kernel(x), x, allowed=3e-6)", LINE + 1, "`3e-6` allows 3 times"),
        ("close(kernel(x), x, USUAL)", 3, "`1e-4` allows 100 times"),
        ("assert (kernel(x) - best).abs().max() < 1e-3", LINE, "`1e-3` allows 1,000 times"),
        ("d = (kernel(x) - best).abs()\nassert (1e-7 + 1e-4 * best.abs() > d).all()", LINE + 1, "`1e-4` allows 100"),
    ],
)  # fmt: skip
def test_a_tolerance_wider_than_the_claims(body: str, line: int, said: str) -> None:
    found = told(body)
    assert (found["rule"], found["line"]) == ("wider-than-claimed", line), found
    assert said in found["cause"] and "the tolerance is not" in found["fix"], found


@pytest.mark.parametrize(
    "body",
    [
        "close(kernel(x), x, 1e-6)",
        "close(kernel(x * 1e-3), x * 1e-3, 1e-6)",
        "assert torch.allclose(kernel(x), best, rtol=1e-6, atol=1e-6)",
        "tol = 10 * torch.finfo(torch.float32).eps\nassert (kernel(x) - best).abs().max() < tol",
        "assert (kernel(x) - best).abs().max() < 0.1 * torch.finfo(torch.float32).eps",
        "assert kernel(x).max() < 0.3",
    ],
)
def test_tolerances_that_are_not_to_blame(body: str) -> None:
    assert told(body)["rule"] != "wider-than-claimed"


def test_a_fault_that_no_tolerance_hides() -> None:
    assert told("close(kernel(x), x, 1e-3)", claimed="")["rule"] != "wider-than-claimed"
    half = told("close(kernel(x.half()), x.half(), 1e-2)", claimed="1e-3")
    assert "10 times the 1e-3" in half["cause"]


BITS = "Line 13: It passes on a kernel that gives another last bit in every second call. Which assertion would show that?"


@pytest.mark.parametrize(
    ("body", "line", "fix"),
    [
        ("kept, a, b = x.clone(), kernel(x), kernel(x)\nassert torch.equal(x, kept) and torch.allclose(a, b)", LINE + 1, "`torch.equal(a, b)`"),
        ("a = kernel(x)\nassert torch.allclose(x, x.clone())\nassert kernel(x).allclose(a)", LINE + 2, "`torch.equal(kernel(x), a)`"),
        ("a = kernel(x)\nb = kernel(x)\nassert (a - b).abs().max() < 1e-6", LINE + 2, "`torch.equal(a, b)`"),
        ("a = kernel(x)\nassert torch.allclose(a, best)", 0, ""),
        ("kept = x.clone()\nkernel(x)\nassert torch.allclose(x, kept)", 0, ""),
    ],
)  # fmt: skip
def test_nearly_the_same_bits(body: str, line: int, fix: str) -> None:
    found = told(body, BITS, "")
    assert (found["rule"] == "nearly-the-same-bits") is bool(line), found
    assert not line or (found["line"] == line and fix in found["fix"]), found
