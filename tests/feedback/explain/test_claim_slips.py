"""Slips in a test of a claim: what is told of them, and of their look-alikes."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import claim_slips
from grader.feedback.explain.source_text import read

TEST = """def test(kernel, claim):
    x = torch.randn(33, 7, device="cuda") * 4
    if claim == "{claim}":
        for view in {views}:
            with {around}:
                {call}


def close(out, x, allowed):
    best = {best}
    assert {asked}
"""
GOOD = {
    "claim": "accurate",
    "views": "(x.t(), x[:, ::2])",
    "around": 'torch.autocast("cuda")',
    "call": "close(kernel(view, 2.0), view, 1e-3)",
    "best": "torch.sigmoid(x.double()) * 2.0 + x.double()",
    "asked": "((out - best).abs() <= allowed * (1 + best.abs())).all()",
}
FAILS = "Line 3: The test fails on a right kernel: AssertionError (line 11: assert ...)."
CALLED = "Line 3: The test fails on a right kernel: {} (line 6: ...)."
PLACE = "Line 3: It passes on a kernel that is off by 1e-5 in one place alone."
ORDER = "Line 3: It passes on a kernel that reads a transposed view in the order of its memory."
MISSING = "Line 3: It ended with TypeError: autocast.__init__() missing 1 required positional argument: 'device_type' (line 5: ...)."
METHOD = CALLED.format("TypeError: a builtin_function_or_method cannot be passed to the kernel under test")
NOTHING = CALLED.format("RuntimeError: Boolean value of Tensor with no values is ambiguous")


def told(message: str, **parts: str) -> list[str]:
    """What is found in the test with these parts of it exchanged."""
    given = GOOD | parts
    finding = Finding(f"claim: {given['claim']}", Status.WRONG_ANSWER, message)
    text = read(TEST.format(**given))
    return [f"{f.rule} {f.line} {f.fix}" for find, _ in claim_slips.FACTS for f in find(text, finding)]


@pytest.mark.parametrize(
    ("message", "parts", "words"),
    [
        (FAILS, {}, ""),
        (
            FAILS,
            {"best": "torch.sigmoid(x.double() * 2.0) + x.double()"},
            "`torch.sigmoid(x.double()) * 2.0`",
        ),
        (FAILS, {"best": "torch.sigmoid(x * 4) * 2.0 + x"}, ""),  # an input that is scaled
        (FAILS, {"best": "torch.sigmoid(x * 4) + x * 4"}, ""),
        (FAILS, {"claim": "autocast", "call": "close(kernel(view, 2.0), view, 1e-6)"}, "finer-than-half 6"),
        (FAILS, {"claim": "autocast", "call": "close(kernel(view, 2.0), view, 5e-4)"}, ""),
        (FAILS, {"call": "close(kernel(view, 2.0), view, 1e-6)"}, ""),
        (FAILS, {"claim": "autocast", "around": 'torch.autocast("cpu")'}, "another-device 5"),
        (FAILS, {"claim": "autocast", "around": 'torch.autocast(device_type="cuda")'}, ""),
        (
            MISSING,
            {"claim": "autocast", "around": "torch.autocast()"},
            'another-device 5 Write `torch.autocast("cuda")`',
        ),
        (NOTHING, {"call": "assert not kernel(view, 2.0)"}, "`kernel(view, 2.0).shape == (0, ...)`"),
        (NOTHING, {}, ""),
        (
            PLACE,
            {"call": "close(kernel(x, 2.0), x, 1e-3)"},
            "view-not-used 6 Hand view over, `kernel(view, 2.0)`",
        ),
        (PLACE, {"views": "range(3)", "call": "close(kernel(x, 2.0), x, 1e-3)"}, ""),
        (METHOD, {"call": "close(kernel(view.half, 2.0), view, 1e-3)"}, "Call it: `view.half()`"),
        (METHOD, {}, ""),
        (PLACE, {"asked": "(out - best).abs().mean() <= allowed"}, "mean-of-errors 11"),
        (PLACE, {"asked": "(out - best).abs().max() <= allowed"}, ""),
        (FAILS, {"asked": "(out - best).abs().mean() <= allowed"}, ""),
        (ORDER, {"views": "(x[::2], x[1:])"}, "none-transposed 4 Add a transposed view, `x.t()`"),
        (ORDER, {}, ""),
        (ORDER, {"views": "(x[::2], made(x))"}, ""),  # who knows
    ],
)
def test_a_slip_is_told_with_its_line(message: str, parts: dict[str, str], words: str) -> None:
    found = told(message, **parts)
    assert any(words in one for one in found) if words else not found, found
