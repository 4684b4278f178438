"""A kernel that is launched below a condition alone, where nothing at all was written."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import launched_in_part
from grader.feedback.explain.source_text import Fact, read

CODE = """code = r'''
__global__ void wide(float* out) {{}}
__global__ void plain(float* out) {{}}
void run(float* out, int cols, int vec) {{
    if (cols == 0) return;
    {}
}}
'''
"""
ALL = "4191 of 4191 elements of Float[33, 127] were never written, the first is element 0, 0."
ONE = "element 0, 0 of Float[1, 1] was never written, the only one of 1."
IN_PART = "if (vec == 4) {\n        wide<<<1, 2>>>(out);\n    }"


def facts_of(code: str, finding: Finding) -> list[Fact]:
    return [f for find, _ in launched_in_part.FACTS for f in find(read(CODE.format(code)), finding)]


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("if (vec == 4) wide<<<1, 2>>>(out);\n    plain<<<1, 2>>>(out);", 7),
        (f"{IN_PART}\n    plain<<<1, 2>>>(out);", 9),
        (f"{IN_PART} else plain<<<1, 2>>>(out);", 0),
        ("if (vec == 4) { wide<<<1, 2>>>(out); return; }\n    plain<<<1, 2>>>(out);", 0),
        ("if (vec == 4) vec = 1;\n    plain<<<1, 2>>>(out);", 0),
        (IN_PART, 0),
    ],
)
def test_a_launch_that_should_be_the_other_case(code: str, line: int) -> None:
    message = "Counted 2,560 global load requests, allowed 512. A warp asks for 128 numbers at once."
    facts = facts_of(code, Finding("wide loads", Status.FAILED, message))
    assert [f.line for f in facts] == ([line] if line else [])
    assert all("both kernels run, wide and then plain" in f.cause for f in facts)
    assert not facts_of(code, Finding("wide loads", Status.FAILED, "It was not counted."))


@pytest.mark.parametrize(
    ("code", "message", "told"),
    [
        (IN_PART, ALL, "Behind line 8 an `else` is missing, with a launch for that case, of plain."),
        (IN_PART, ONE, "of plain."),
        ("if (vec == 4) wide<<<1, 2>>>(out);", ALL, "Behind line 6 an `else` is missing"),
        ("if (vec == 4) { wide<<<1, 2>>>(out); }\n    else { plain<<<1, 2>>>(out); }", ALL, ""),
        ("if (vec == 4) wide<<<1, 2>>>(out); else plain<<<1, 2>>>(out);", ALL, ""),
        ("if (vec == 4) wide<<<1, 2>>>(out);\n    plain<<<1, 2>>>(out);", ALL, ""),
        ("wide<<<1, 2>>>(out);", ALL, ""),
        (IN_PART, "3 of 4191 elements of Float[33, 127] were never written, the first is element 4, 0.", ""),
        ("if (vec == 4) { wide<<<1, 2>>>(out);", ALL, ""),
        ("if (", ALL, ""),
    ],
)
def test_no_else(code: str, message: str, told: str) -> None:
    finding = Finding("memory", Status.UNINITIALISED, message)
    facts = facts_of(code, finding)
    assert [f.line for f in facts] == ([6] if told else [])
    assert all(told in f.fix and "`vec == 4`" in f.cause for f in facts)
