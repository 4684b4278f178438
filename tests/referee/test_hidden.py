"""Of a hidden case a student sees the category, and never full marks while it fails."""

from functools import partial
from pathlib import Path

import pytest

from grader.domain.errors import BadInputError
from grader.domain.lessons import find, with_hidden
from grader.domain.task import Case, Tensor
from grader.domain.verdict import Status
from tests.referee import plain
from tests.referee.plain import CASES

grade = partial(plain.grade, forked=True)

SECRET = Case("seventeen rows", (Tensor((17, 3), device="cpu"),), "Seventeen.", 2, hidden="odd sizes")
RIGHT = "def double(x):\n    print(tuple(x.shape))\n    return 2 * x\n"


@pytest.mark.slow
def test_a_failing_hidden_case_shows_its_category_only(tmp_path: Path) -> None:
    wrong = RIGHT.replace("return", "if x.shape[0] == 17: raise ValueError(x.shape)\n    return")
    verdict = grade(tmp_path, wrong, (*CASES, SECRET))
    finding = verdict.findings[-1]
    assert (finding.id, finding.status, finding.evidence) == ("hidden: odd sizes", Status.FAILED, {})
    assert "odd sizes" in finding.message
    assert "17" not in str(verdict.as_json()["findings"]) and "seventeen" not in str(verdict.findings).lower()
    assert "(4, 6)" in verdict.output and "(17, 3)" not in verdict.output
    assert not verdict.ok and verdict.points < verdict.max_points


@pytest.mark.slow
def test_a_death_in_a_hidden_case_tells_no_more(tmp_path: Path) -> None:
    wrong = RIGHT.replace("return", "os._exit(3) if x.shape[0] == 17 else None\n    return")
    verdict = grade(tmp_path, wrong, (*CASES, SECRET))
    assert verdict.findings[-1].status is Status.FAILED
    assert "17" not in verdict.output and "exit" not in verdict.findings[-1].message


def test_a_hidden_case_that_passes_earns_its_points(tmp_path: Path) -> None:
    verdict = grade(tmp_path, RIGHT, (*CASES, SECRET))
    assert verdict.ok and verdict.points == verdict.max_points == 7
    assert verdict.findings[-1].id == "hidden: odd sizes"


def test_a_hidden_case_without_points_is_refused() -> None:
    with pytest.raises(ValueError, match="worth nothing"):
        Case("free", points=0, hidden="sizes")


def test_a_teachers_file_of_hidden_cases(tmp_path: Path) -> None:
    path = tmp_path / "hidden.py"
    path.write_text(
        "from grader.domain.task import Case, Tensor\n"
        "HIDDEN = (Case('n', (Tensor((5, 9)),), points=3, hidden='small'),)\n"
    )
    task = find("03").task
    assert with_hidden(task, path).max_points == task.max_points + 3
    path.write_text("raise SystemExit(3)")
    with pytest.raises(BadInputError, match="cannot be read: SystemExit: 3"):
        with_hidden(task, path)
    path.write_text("HIDDEN = ()")
    with pytest.raises(BadInputError, match="must define HIDDEN"):
        with_hidden(task, path)
