"""A class of forty, ten of them hostile, the whole way: every row, nothing twice, reports agree."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from grader.domain.errors import BadInputError
from grader.domain.lessons import course_root
from grader.domain.options import GradingOptions
from grader.reports import wording
from grader.reports.formats import json_report
from grader.teaching.batch import batch_run, batch_verb, class_rows, journal, profiles, replays, report_files
from grader.teaching.batch.batch_request import Request
from grader.teaching.batch.late_policy import Policy
from grader.teaching.batch.results_folder import ResultsFolder
from tests.teaching.batch import klass

SIMT = GradingOptions(backend="simt", with_speed=True)
KINDS = (
    "doubled", "not written", "does not compile", "no Python", "raises", "endless loop", "much output",
    "segfault",
)  # fmt: skip
MADE = klass.make(40, 10, kinds=KINDS, own=False)
ROOT = course_root()
ODD = os.fsdecode(b"M\xfcller.py")  # a name as an old archive leaves it, not UTF-8


@pytest.fixture(scope="module")
def request_(tmp_path_factory: pytest.TempPathFactory) -> Request:
    folder = tmp_path_factory.mktemp("class")
    klass.write(MADE, folder / "submissions")
    (folder / "submissions" / ODD).write_text(klass.text_of("right"))
    (folder / "submissions" / "empty.py").write_text("")
    (folder / "submissions" / "binary.py").write_bytes(b"\0\1\2")
    people = "\n".join(["id,name,leaderboard", *(f"{m.student},Name {m.student},Nick" for m in MADE)])
    (folder / "class.csv").write_text(f"{people}\nabsent,Absent,\nempty,,\nbinary,,\n")
    request = Request(
        folder / "submissions", folder / "results", ("03",), replace(SIMT, limit_s=6.0),
        roster=folder / "class.csv", workers=2, formats=("gradescope", "canvas", "leaderboard"), quiet=True,
    )  # fmt: skip
    report_files.write_class(ResultsFolder(request.out), batch_run.run(request), request.formats)
    return request


def result(request: Request) -> dict[str, object]:
    return json.loads((request.out / "reports" / "class.json").read_text())


def web_page(request: Request) -> str:
    return (request.out / "reports" / "index.html").read_text("utf-8")


@pytest.mark.slow
def test_every_row_has_its_status(request_: Request) -> None:
    rows = {row["student"]: row for row in result(request_)["rows"]}  # type: ignore[attr-defined]
    got = {m.student: (m.kind, klass.status(rows[m.student]["checks"])) for m in MADE}
    assert got == {m.student: (m.kind, m.expected) for m in MADE}
    assert {m.kind for m in MADE} == {"right", *KINDS}
    states = {name: rows[name]["state"] for name in ("absent", "empty", "binary")}
    assert states == {"absent": "missing", "empty": "refused", "binary": "refused"} and len(rows) == 44
    assert rows[r"M\xfcller"]["status"] == "passed" and r"M\xfcller" in web_page(request_)
    full = [m.student for m in MADE if m.expected == "passed"]
    assert all(rows[name]["points"] == rows[name]["max_points"] == 20 for name in full)


@pytest.mark.slow
def test_equal_files_are_graded_once_and_each_student_has_their_own_reports(request_: Request) -> None:
    lines = list(journal.lines(request_.out / "journal.jsonl"))
    assert len(lines) == len({line.key for line in lines}) == len({m.kind for m in MADE})
    for student in [*(m.student for m in MADE), "absent", "empty"]:
        folder = ResultsFolder(request_.out).student(student, klass.LESSON)
        files = ("verdict.json", "log.txt", "report.md", "report.html", "gradescope/results.json")
        assert all((folder / name).stat().st_size for name in files), student
    for other in (MADE[0].student, MADE[1].student):
        text = (ResultsFolder(request_.out).student(other, klass.LESSON) / "report.html").read_text()
        assert f"{other}.py" in text


@pytest.mark.slow
def test_the_same_command_again_grades_nothing(request_: Request) -> None:
    before = (request_.out / "journal.jsonl").read_bytes()
    again = batch_run.run(request_)
    assert (request_.out / "journal.jsonl").read_bytes() == before
    assert json.loads(json_report.of_rows(again))["rows"] == result(request_)["rows"]


@pytest.mark.thorough
@pytest.mark.slow
def test_a_file_graded_again_costs_nobody_the_due_date(request_: Request, tmp_path: Path) -> None:
    """Whoever gives none of these options again means that they hold."""
    shutil.copytree(request_.out, tmp_path / "results")
    due = max(path.stat().st_mtime for path in request_.submissions.iterdir()) - 60
    dated = replace(request_, out=tmp_path / "results", policy=Policy(due, 50.0), times="files")
    lost = {row.student: row.penalty for row in batch_run.run(dated).rows}
    assert any(lost.values())
    again = batch_run.run(replace(dated, policy=Policy(), times="", as_before=True))
    assert {row.student: row.penalty for row in again.rows} == lost
    ended = batch_run.run(replace(dated, policy=Policy()))
    assert not any(row.penalty for row in ended.rows)


@pytest.mark.slow
def test_class_reports_agree_and_are_valid(request_: Request) -> None:
    data, folder = result(request_), request_.out / "reports"
    jsonschema.validate(data, json.loads((ROOT / "grader/domain/schema/class.v1.json").read_text()))
    total = sum(row["points"] for row in data["rows"])  # type: ignore[attr-defined]
    assert total > 0
    with (folder / "class.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert sum(int(line["points"] or 0) for line in lines) == total
    assert sorted(line["student"] for line in lines if not line["points"]) == ["absent", "binary", "empty"]
    with (folder / "canvas.csv").open() as file:
        head, possible, *rows = csv.reader(file)
    assert head[5].startswith("03_square_kernel") and possible[5] == "20" and len(rows) == 44
    assert sum(int(row[5] or 0) for row in rows) == total
    assert sorted(row[0] for row in rows if not row[5]) == ["Absent", "binary", "empty"]
    page = (folder / "index.html").read_text()
    assert (
        page.count("<tr><td><a href=") == 44
        and "<svg" in page
        and "http" not in page.replace("http://www.w3", "")
    )
    board = (folder / "leaderboard.html").read_text()
    assert "Nick" in board and "student0" not in board


@pytest.mark.thorough
@pytest.mark.slow
def test_who_passed_has_a_roofline_and_a_trace_beside_the_page(request_: Request) -> None:
    results, said = ResultsFolder(request_.out), list[str]()
    whole = class_rows.collect(results)
    first = next(row for row in whole.rows if row.passed)
    page = results.student(first.student, first.lesson) / "report.html"
    assert "roofline.png" not in page.read_text()
    others = [replace(first, student="gone", file="gone.py"), *(r for r in whole.rows if not r.passed)]
    some = replace(whole, rows=(first, *others))
    assert profiles.make(results, some, SIMT, said.append) == 1
    assert 'src="profile/roofline.png"' in page.read_text()
    assert json.loads((page.parent / "profile" / "trace.json").read_text())["traceEvents"]
    assert (
        len(said) == 1 and said[0].startswith("gone, 03_square_kernel: no profile. ") and "gone.py" in said[0]
    )
    assert profiles.make(results, replace(whole, rows=(first,)), SIMT, said.append) == 0


@pytest.mark.thorough
@pytest.mark.slow
def test_whose_kernel_went_wrong_has_a_replay_beside_the_page(request_: Request) -> None:
    results, said = ResultsFolder(request_.out), list[str]()
    whole = class_rows.collect(results)
    shown = [row for row in whole.rows if row.key and wording.replay_offer(results.verdict(row.key))]
    right = next(row for row in whole.rows if row.passed)
    some = replace(whole, rows=(shown[0], replace(shown[0], student="gone", file="gone.py"), right))
    assert replays.make(results, some, SIMT, said.append) == 1
    page = results.student(shown[0].student, shown[0].lesson) / "report.html"
    assert 'href="replay.html"' in page.read_text() and "<script" in page.with_name("replay.html").read_text()
    assert not (results.student(right.student, right.lesson) / "replay.html").exists()
    assert (
        len(said) == 1 and said[0].startswith("gone, 03_square_kernel: no replay. ") and "gone.py" in said[0]
    )
    assert replays.make(results, replace(whole, rows=(shown[0],)), SIMT, said.append) == 0


@pytest.mark.slow
def test_report_writes_the_same_again_and_knows_single_verdicts(request_: Request, tmp_path: Path) -> None:
    page = request_.out / "reports" / "class.csv"
    before = page.read_text()
    page.unlink()
    verdict = ResultsFolder(request_.out).student(MADE[0].student, klass.LESSON) / "verdict.json"
    out = tmp_path / "results.json"
    words = ["report", str(verdict), "--format", "gradescope", "--out", str(out)]
    done = subprocess.run([sys.executable, "-m", "grader", *words], cwd=ROOT, check=False, timeout=120)
    assert done.returncode == 0 and "tests" in json.loads(out.read_text())
    assert batch_verb.report(request_.out, ("exercism",), "-") == 0
    assert page.read_text() == before
    assert (
        ResultsFolder(request_.out).student(MADE[0].student, klass.LESSON) / "exercism/results.json"
    ).exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "words, said",
    [
        ({"submissions": Path("nowhere")}, "There is no nowhere"),
        ({"lessons": ("99",)}, "no lesson"),
        ({"only_pending": True}, "where there is one"),
        ({"regrade": ("typo",)}, "--regrade 'typo' is no student here, no status and not all"),
        ({"options": replace(SIMT, hidden=Path("nowhere"))}, "not a folder of hidden cases"),
        ({"options": replace(SIMT, hidden=ROOT / "README.md")}, "README.md is not a Python file"),
        (
            {"options": replace(SIMT, hidden=ROOT / "tests" / "conftest.py")},
            "conftest.py must define HIDDEN",
        ),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    words: dict, said: str, request_: Request, tmp_path: Path
) -> None:
    with pytest.raises(BadInputError, match=said):
        batch_run.run(replace(request_, out=tmp_path, **words))
    with pytest.raises(BadInputError, match="no format 'pdf'"):
        batch_verb.report(request_.out, ("pdf",), "-")
    with pytest.raises(BadInputError, match="no results of a batch"):
        batch_verb.report(tmp_path / "none", (), "-")
