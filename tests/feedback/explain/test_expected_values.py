"""What a student's test expects, where a right kernel gives something else."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

TESTS = """TESTS = {{
    "reverse": (lambda x: torch.cat([b.flip(0) for b in x.split(64)]), [torch.randn(200)]),
    "offset": (lambda x: {}, [torch.randn(200)]),
}}
"""
FAILS = (
    "Line 3: The test fails on a right kernel: AssertionError: offset (line 9: assert). {} at the first of them the right "
    "kernel gives -1.25, and the test expects -0.5. A test must let every right kernel pass."
)


@pytest.mark.parametrize(
    ("code", "differ", "rule", "words"),
    [
        ("x - x[-1]", "192 of 200 elements differ, from [0] to [191];", "one-of-all",
         "`x[-1]` is the last element of the whole of x. The elements [192] to [199], the last block of 64, agree"),
        ("x - x[0]", "130 of 200 elements differ, from [64] to [199];", "one-of-all", "[0] to [63], the first block of 64, agree"),
        ("x - x[-1]", "190 of 200 elements differ, from [0] to [189];", "expected-value", "The elements [190] to [199] agree."),
        ("x - x[-1]", "150 of 200 elements differ, from [0] to [199];", "expected-value", "is -0.5 there, and -1.25 from the right kernel."),
        ("torch.cat([b - b[0] for b in x.split(64)])", "197 of 200 elements differ, from [0] to [199];", "expected-value",
         "and -1.25 from the right kernel."),
        ("x - 1_000", "200 of 200 elements differ, from [0] to [199];", "expected-value", "made by `x - 1_000`. The first element that differs is -0.5"),
    ],
)  # fmt: skip
def test_the_line_that_makes_it(code: str, differ: str, rule: str, words: str) -> None:
    finding = Finding("test of offset", Status.WRONG_ANSWER, FAILS.format(differ))
    found = attach.explained(finding, TESTS.format(code)).evidence["explanation"]
    assert (found["rule"], found["line"]) == (rule, 3) and words in found["cause"], found
