"""The capstone's page: its table is computed, times stand with the solutions, and it gives none away."""

from __future__ import annotations

import json
from pathlib import Path

from grader.domain import capstone
from tools import capstone_page, sources, visible

ROOT = Path(__file__).resolve().parents[2]
EVERY = capstone.problems()


def test_the_table_has_a_row_a_problem_computed_from_its_sizes() -> None:
    rows = capstone_page.table(EVERY).splitlines()[2:]
    assert len(rows) == len(EVERY)
    swiglu = next(row for row in rows if "`swiglu`" in row)
    moved, _ = capstone.find("swiglu").least()
    assert f"{moved / 1e6:,.0f}" in swiglu and "[08](../08_sigmoid_residual/README.md)" in swiglu


def test_measured_times_stand_above_the_solutions_alone(tmp_path: Path) -> None:
    assert capstone_page.times(EVERY, tmp_path) == ""
    found = {
        "command": "a command", "machine": {"name": "a card"}, "versions": {"torch": "2"},
        "floor_card": "a card",
        "seconds": {"swiglu": {"eager": 1e-3, "compiled": 5e-4, "ours": 4e-4}},
        "floor_seconds": {"swiglu": 2e-4},
    }  # fmt: skip
    results = tmp_path / capstone_page.RESULTS
    results.parent.mkdir(parents=True)
    results.write_text(json.dumps(found))
    rows = [line for line in capstone_page.times(EVERY, tmp_path).splitlines() if "SwiGLU" in line]
    assert len(rows) == 1 and rows[0].endswith("| 200 | 1,000 | 500 | 400 |")
    assert "eager" not in capstone_page.table(EVERY)


def test_a_site_without_solutions_has_no_line_of_one() -> None:
    shown = capstone_page.site(ROOT, solutions=False)
    assert capstone_page.SOLUTIONS not in shown and capstone_page.PAGE in shown
    texts = [text if isinstance(text, str) else text.decode() for text in shown.values()]
    lines = {line.strip() for text in texts for line in text.splitlines()}
    assert "solutions.md" not in texts[0]
    for problem in EVERY:
        own = visible.telling(problem.solution.read_text(), problem.exercise.read_text())
        secret = {line for line in own if len(line) >= visible.UNLIKELY}
        assert secret and not secret & lines, problem.name


def test_a_site_with_solutions_has_each_in_a_fold_and_none_outside() -> None:
    page = capstone_page.site(ROOT, solutions=True)[capstone_page.SOLUTIONS]
    assert isinstance(page, str)
    for problem in EVERY:
        assert visible.share(problem, page) == 0
        assert visible.telling(problem.solution.read_text())[-1] in page


def test_the_page_stands_behind_the_lessons_in_the_navigation() -> None:
    assert sources.navigation(ROOT)[-1] == {"Capstone": capstone_page.PAGE}
