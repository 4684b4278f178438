"""The platforms' own files, there and back: the grades arrive, and nothing else is changed."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from datetime import datetime
from typing import TYPE_CHECKING

import jsonschema
import pytest

from grader.domain.errors import BadInputError
from grader.domain.verdict import Finding, Status, Verdict
from grader.reports import formats
from grader.reports.row import Check, Class, FileFate, LessonFacts, Row, StudentResult
from grader.teaching.batch import submission_times
from grader.teaching.batch.results_folder import ResultsFolder
from grader.teaching.gradebook import feedback_zip, platform_table
from tests.teaching.gradebook.foreign_worksheets import WORKSHEETS

if TYPE_CHECKING:
    from pathlib import Path

LESSON = "07_fused_bias_relu"
FACTS = LessonFacts(LESSON, "Fused bias and ReLU", 20)
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Lesson 03 (54),Lesson 07 (55),Final Score\n"
    "    Points Possible,,,,,10,20,(read only)\n"
    '"Doe, Jane",1001,s-1,jdoe,"Sec 1, Lab",3,,88.25\n"Roe, Rick",1002,s-2,rroe,A,,7,\n'
    '"Poe, ""Ed""",1003,s-3,epoe,A,,5,=1\n"Student, Test",9999,,,A,,,\n'
)
MOODLE = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments\n"
    "Participant 111,Jane Doe,jane@x.org,Submitted for grading,,20.00,Yes,"
    '"Friday, 20 November 2026, 9:48 PM",-,\n'
    "Participant 112,Rick Roe,rick@x.org,No submission,,20.00,Yes,-,-,old\n"
    "Participant 113,Ed Poe,ed@x.org,Submitted for grading,3.00,20.00,Yes,-,-,\n"
)
SCORE = {  # www.imsglobal.org/spec/lti-ags/v2p0, "Score publish service"
    "type": "object",
    "properties": {
        "userId": {"type": "string", "minLength": 1},
        "timestamp": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$"},
        "scoreGiven": {"type": "number", "minimum": 0},
        "scoreMaximum": {"type": "number", "exclusiveMinimum": 0},
        "comment": {"type": "string"},
        "activityProgress": {"enum": ["Initialized", "Started", "InProgress", "Submitted", "Completed"]},
        "gradingProgress": {"enum": ["FullyGraded", "Pending", "PendingManual", "Failed", "NotReady"]},
    },
    "required": ["userId", "timestamp", "activityProgress", "gradingProgress"],
    "dependentRequired": {"scoreGiven": ["scoreMaximum"]}, "additionalProperties": False,
}  # fmt: skip


def whole(points: int) -> tuple[Check, ...]:
    return (Check("load", Status.PASSED, 0, 0), Check("whole", Status.FAILED, points, 20))


def row(student: str, points: int, **more: object) -> Row:
    return Row(student, LESSON, "graded", Status.FAILED, points, points, 20, **more)  # type: ignore[arg-type]


def class_of(*rows: Row, files: tuple[FileFate, ...] = ()) -> Class:
    return Class("x", "2026-11-21T00:00:00Z", (FACTS,), rows, {}, files=files)


def cells(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def differences(before: str, after: str) -> dict[tuple[int, int], str]:
    first, second = cells(before), cells(after)
    assert [len(line) for line in first] == [len(line) for line in second]
    return {
        (i, k): new
        for i, (old_line, new_line) in enumerate(zip(first, second, strict=True))
        for k, (old, new) in enumerate(zip(old_line, new_line, strict=True))
        if old != new
    }


def test_canvas_gradebook_is_filled_and_nothing_else_is_changed(tmp_path: Path) -> None:
    path = tmp_path / "grades.csv"
    path.write_text("\ufeff" + CANVAS, "utf-8")
    result = class_of(
        row("1001", 18, ids={"canvas": "1001"}), row("s-2", 12, ids={"sis": "s-2"}, excused=True),
        row("epoe", 11, final=False, ids={"login": "epoe"}), row("gone", 1),
    )  # fmt: skip
    filled = platform_table.fill(path, result, FACTS)
    assert differences(CANVAS, filled.text) == {(2, 6): "18", (3, 6): "EX"}
    assert (filled.platform, filled.column, filled.grades) == ("canvas", "Lesson 07 (55)", 2)
    assert "no grade yet" in filled.without[0] and "gone has no line" in filled.without[1]
    path.write_text(filled.text)
    assert platform_table.fill(path, result, FACTS).text == filled.text
    named = platform_table.fill(path, result, FACTS, "Lesson 03")
    assert differences(filled.text, named.text) == {(2, 5): "18", (3, 5): "EX"}
    path.write_text(CANVAS.replace("Lesson 07 (55)", "Homework (55)"))
    with pytest.raises(BadInputError, match=r"which column.*--column: Lesson 03 \(54\), Homework \(55\)"):
        platform_table.fill(path, result, FACTS)


def test_moodle_worksheet_is_filled_as_moodle_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "worksheet.csv"
    path.write_text(MOODLE)
    result = class_of(
        row("111", 18, ids={"moodle": "111"}, first="odd sizes: no\n guard"),
        row("ed@x.org", 5, email="ed@x.org"),
        row("112", 0, final=False, ids={"moodle": "112"}),
    )  # fmt: skip
    filled = platform_table.fill(path, result, FACTS)
    changed = differences(MOODLE, filled.text)
    assert {k: v for k, v in changed.items() if k[1] == 4} == {(1, 4): "18.00", (3, 4): "5.00"}
    assert changed[1, 9] == "18 of 20 points. odd sizes: no guard" and set(changed) == {
        (1, 4),
        (1, 9),
        (3, 4),
        (3, 9),
    }
    # Moodle finds the person by the digits after "Participant ", and reads the grade as a number.
    read = {line[0][len("Participant ") :]: float(line[4]) for line in cells(filled.text)[1:] if line[4]}
    assert read == {"111": 18.0, "113": 5.0}
    path.write_text(MOODLE.replace("20.00", "10.00"))
    with pytest.raises(BadInputError, match=r"maximum grade is 10.00, but lesson 07 has 20"):
        platform_table.fill(path, result, FACTS)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(BadInputError, match="neither Canvas"):
        platform_table.fill(path, result, FACTS)


def moodle_reads(name: str) -> tuple[str, str, str, str]:
    """Participant, kind of plug-in, plug-in and file, as Moodle's importer of feedback splits a path."""
    info = name.split("/")[0].split("_", 4)
    assert len(info) >= 4 and info[1].isdigit()
    return info[1], info[2], info[3], "/".join([*info[4:], *name.split("/")[1:]])


def canvas_reads(name: str) -> list[str]:
    """The user's and the file's number, as Canvas infers them: the first two parts that are digits."""
    parts = [part for part in name.split("_") if part != "LATE"]
    return [part for part in parts if re.fullmatch(r"\d+", part)][:2]


def test_feedback_has_the_names_that_platforms_read(tmp_path: Path) -> None:
    results = ResultsFolder(tmp_path)
    rows = (
        row("111", 1, name="Jane_van der Doe", ids={"moodle": "111"}), row("1002", 2, ids={"canvas": "1002"}),
        row("nobody", 3),
    )  # fmt: skip
    fates = (FileFate("roerick_LATE_1002_56_all.zip: 07.py", "1002", LESSON, "graded"),)
    for one in rows:
        page = results.student(one.student, LESSON) / "report.html"
        page.parent.mkdir(parents=True)
        page.write_text(one.student)
    count, without = feedback_zip.write(tmp_path / "f.zip", results, class_of(*rows, files=fates), LESSON)
    assert (count, without) == (2, ["nobody"])
    with zipfile.ZipFile(tmp_path / "f.zip") as archive:
        first, second = archive.namelist()
        assert archive.read(second) == b"1002"
    assert moodle_reads(first) == ("111", "assignfeedback", "file", f"{LESSON}.html")
    assert canvas_reads(second) == ["1002", "56"]


def test_a_page_in_the_feedback_needs_nothing_that_is_not_there(tmp_path: Path) -> None:
    """Its replay comes with it, its picture is in it, and no link leads to what stayed with the teacher."""
    results, one = ResultsFolder(tmp_path), row("111", 1, name="Jane Doe", ids={"moodle": "111"}, key="k")
    finding = Finding("whole", Status.FAILED, "Two threads.", 1, 20)
    verdict = Verdict(LESSON, "x.py", "simt", "cpu", (finding,), 1.0)
    page = results.student("111", LESSON) / "report.html"
    (page.parent / "profile").mkdir(parents=True)
    (page.parent / "profile" / "roofline.png").write_bytes(b"png")
    page.with_name("replay.html").write_text("the threads")
    shown = StudentResult(one, verdict, profile=True, replay=True)
    page.write_text(formats.of_student()["html"].write(shown), "utf-8")
    assert (
        'href="verdict.json"' in page.read_text() and "page of lesson 07, and its hints" in page.read_text()
    )
    feedback_zip.write(tmp_path / "f.zip", results, class_of(one), LESSON)
    with zipfile.ZipFile(tmp_path / "f.zip") as archive:
        first, second = archive.namelist()
        text = archive.read(first).decode()
        assert archive.read(second) == b"the threads"
    assert moodle_reads(second) == ("111", "assignfeedback", "file", f"{LESSON}_replay.html")
    links = re.findall(r'(?:href|src)="([^"]*)"', text)
    assert links == ["data:image/png;base64,cG5n", f"{LESSON}_replay.html"]
    assert "Two threads." in text and "page of lesson 07, and its hints" in text


def test_other_tools_tables_and_scores() -> None:
    result = class_of(
        row("ann", 15, name="Doe, Jane", email="jane@x.org", penalty=2, checks=whole(17)),
        row("ben", 4, final=False, first="Look.", checks=whole(4)),
        row("cleo", 6, checks=whole(6), by_hand=("Excused by A: ill.",), excused=True),
    )  # fmt: skip
    table = list(csv.DictReader(io.StringIO(formats.of_class()["nbgrader"].write(result))))
    assert (table[0]["last_name"], table[0]["first_name"], table[0]["score"]) == ("Doe", "Jane", "15")
    assert [line["score"] for line in table[1:]] == ["", ""] and table[0]["max_score"] == "20"
    head, points, *graded = csv.reader(io.StringIO(formats.of_class()["otter"].write(result)))
    assert head == ["file", "07 whole", "total_points_earned", "percent_correct", "grading_status"]
    assert points == ["points-per-question", "20", "20", "1", ""]
    assert graded == [
        ["ann", "17", "15", "0.75", "Completed"],
        ["ben", "4", "", "", "No total: 07 graded"],
        ["cleo", "6", "", "", "No total: 07 excused"],
    ]
    upload = list(csv.DictReader(io.StringIO(formats.of_class()["prairielearn"].write(result))))
    assert upload == [{"uid": "jane@x.org", "instance": "1", "score_perc": "75"}]
    scores = json.loads(formats.of_class()["lti"].write(result))[LESSON]
    for score in scores:
        jsonschema.validate(score, SCORE)
    assert [(s.get("scoreGiven"), s["gradingProgress"]) for s in scores] == [
        (15, "FullyGraded"), (None, "PendingManual"), (None, "PendingManual"),
    ]  # fmt: skip


@pytest.mark.parametrize("language", WORKSHEETS)
def test_a_worksheet_in_another_language_is_filled_and_has_times(language: str, tmp_path: Path) -> None:
    path = tmp_path / "worksheet.csv"
    path.write_text(WORKSHEETS[language], "utf-8")
    filled = platform_table.fill(path, class_of(row("111", 18, ids={"moodle": "111"})), FACTS)
    assert (filled.platform, filled.grades) == ("moodle", 1)
    changed = differences(WORKSHEETS[language], filled.text)
    assert changed[1, 4] == "18.00" and "18 of 20 points" in changed[1, 9] and len(changed) == 2
    (moment,) = submission_times.read(path)
    assert datetime.fromtimestamp(moment.when) == datetime(2026, 3, 20, 21, 48)
    assert (moment.person.ids["moodle"], moment.person.name) == ("111", "Jane Doe")


def test_moodle_gets_no_grade_above_its_maximum(tmp_path: Path) -> None:
    path = tmp_path / "worksheet.csv"
    path.write_text(MOODLE)
    with pytest.raises(BadInputError, match="has 22 points, and Moodle passes over a grade above"):
        platform_table.fill(path, class_of(row("111", 22, ids={"moodle": "111"})), FACTS)
