"""The page on versions says what was tried, what failed and why, and what nobody tried."""

from __future__ import annotations

import json
from typing import Any

from grader.domain.lessons import course_root
from tools import measured, support_page

CPU = {"torch": "2.13.0+cpu", "python": "3.11.7", "compiler": "g++ 12.2.0", "system": "Debian, x86_64",
       "tried": 4, "passed": 4, "wrong": {}, "date": "2026-11-26"}  # fmt: skip
HEADERS = {"torch": "2.15.0+cu132", "compiler": "g++ 12.2.0", "nvcc": "13.0", "tried": 21, "passed": 18, "wrong": {},
           "left": {"a.py": "no", "b.py": "no", "c.py": "no"}, "whole": 4, "whole_passed": 4, "whole_wrong": {},
           "simt": "", "architectures": ["sm_75"], "date": "2026-11-26"}  # fmt: skip
NVCC = {"nvcc": "13.0", "card": "sm_90", "tried": 20, "passed": 20, "wrong": {}, "date": "2026-11-26"}


def test_every_red_cell_of_the_results_is_explained() -> None:
    data: dict[str, Any] = json.loads(
        (course_root() / measured.RESULTS / support_page.RESULT).read_text("utf-8")
    )
    for part in ("cpu", "headers", "nvcc"):
        assert data[part], part
        assert not [why for why in support_page.reasons(part, data[part]) if why.startswith("Not explained")]
    page = support_page.page(course_root())
    for row in (*data["cpu"], *data["headers"]):
        assert row["torch"] in page and row["compiler"] in page


def test_a_cell_that_failed_is_red_and_has_its_reason() -> None:
    old = HEADERS | {"whole_passed": 3, "whole_wrong": {"x.py": "#error C++20 or later compatible compiler"}}
    text = "\n".join(support_page.headers([old]))
    assert "**3 of 4**" in text and "| 18 of 18 |" in text and "compiled" in text
    assert support_page.reasons("headers", [old]) == [
        next(w for p, _, w in support_page.WHY if p == "headers")
    ]
    broken = HEADERS | {"simt": "error: no member named 'x'"}
    assert "**no**" in "\n".join(support_page.headers([broken]))
    assert "no member named 'x'" in support_page.reasons("headers", [broken])[0]


def test_cards_are_columns_and_what_nobody_tried_is_listed() -> None:
    other = NVCC | {
        "card": "sm_75",
        "passed": 19,
        "wrong": {"solutions/13_tensor_cores/rung6_mma_sync.py": "no"},
    }
    text = "\n".join(support_page.nvcc([NVCC, other]))
    assert "| 13.0 | **19 of 20** | not tried | not tried | not tried | 20 of 20 |" in text
    clang = CPU | {"compiler": "clang++ 19.1.7", "python": "3.13.1"}
    lacking = support_page.missing({"cpu": [CPU, clang], "headers": [HEADERS]})
    assert lacking["torch"] == ["2.11", "2.12", "2.14"] and lacking["Python"] == ["3.12", "3.14"]
    assert "12" not in lacking["g++"] and "11" in lacking["g++"]
    assert "19" not in lacking["clang++"] and "20" in lacking["clang++"]
