"""A kernel that is launched below a condition alone, where nothing at all was written."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import launched_in_part
from grader.feedback.explain.source_text import read

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
    facts = [f for find, _ in launched_in_part.FACTS for f in find(read(CODE.format(code)), finding)]
    assert [f.line for f in facts] == ([6] if told else [])
    assert all(told in f.fix and "`vec == 4`" in f.cause for f in facts)
