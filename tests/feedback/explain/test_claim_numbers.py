"""Numbers in a student's test that do not belong together."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import claim_numbers, python_mistakes
from grader.feedback.explain.source_text import read

TEST = """def test(kernel, claim):
    if claim == "accurate":
        for size in {}:
            close({}, {}, 1e-6)
    elif claim == "layout":
        close(kernel(x * 3, 1.0), x, 1e-6)


def close(out, x, allowed):
    best = torch.sigmoid(x.double()) * {} + x.double()
    assert {}
"""
GOOD = (
    "(1, 10)",
    "kernel(x * size, 2.0)",
    "x * size",
    "2.0",
    "((out - best).abs() <= allowed * (1 + best.abs())).all()",
)
FAILS = "Line 3: The test fails on a right kernel: AssertionError (line 11: assert ...)."
RANGE = (
    "It ended with TypeError: 'float' object cannot be interpreted as an integer (line 3: for size in ...)."
)
BOOLEAN = "RuntimeError: Boolean value of Tensor with more than one value is ambiguous (line 11: assert ...)."


def told(message: str, **parts: str) -> list[str]:
    """What is found in the test with these parts of it exchanged."""
    given = dict(zip(("sizes", "call", "right", "factor", "asked"), GOOD, strict=True)) | parts
    text = read(TEST.format(*given.values()))
    finding = Finding("claim: accurate", Status.WRONG_ANSWER, message)
    every = [*claim_numbers.FACTS, *python_mistakes.FACTS]
    return [
        f"{f.rule} {f.line} {f.fix}" for find, s in every if finding.status in s for f in find(text, finding)
    ]


@pytest.mark.parametrize(
    ("message", "parts", "words"),
    [
        (FAILS, {}, ""),
        (FAILS, {"right": "x"}, "another-input 4"),
        (FAILS, {"call": "kernel(x, 2.0)", "right": "x"}, ""),
        (FAILS, {"call": "kernel(y, 2.0)", "right": "x"}, ""),
        ("It passes on a kernel that overflows.", {"right": "x"}, ""),
        (FAILS, {"call": "kernel(x * size, 1.5)"}, "2.0 here or 1.5 there"),
        (FAILS, {"call": "kernel(x * size, 1.5)", "factor": "1.5"}, ""),
        (FAILS, {"call": "kernel(x * size, 1.5)", "factor": "SCALE"}, ""),
        (FAILS, {"asked": "((out - best).abs() <= allowed).all()"}, "`allowed * (1 + best.abs())`"),
        (FAILS, {"asked": "((out - best).abs() / best <= allowed).all()"}, ""),
        (FAILS, {"asked": "kernel(x, 2.0) is None"}, "`kernel(x, 2.0).shape`"),
        (FAILS, {"asked": "out.shape == [0, 7]"}, "`(0, 7)`"),
        (FAILS, {"asked": "out.shape == (0, 7)"}, ""),
        (RANGE, {"sizes": "range(0.001, 1000)"}, "`(0.001, 1000)`"),
        (RANGE, {"sizes": "range(1, 1000)"}, ""),
        (BOOLEAN, {"asked": "(out - best).abs().all() <= allowed * best"}, "`((out - best).abs() <= allowed * best).all()`"),
        (BOOLEAN, {"asked": "(out - best).abs() <= allowed"}, "Ask for all of them"),
    ],
)  # fmt: skip
def test_what_does_not_belong_together(message: str, parts: dict[str, str], words: str) -> None:
    said = told(message, **parts)
    assert words in said[0] if words else not said
