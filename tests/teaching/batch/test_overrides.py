"""What a teacher decides by hand is shown with its author and reason wherever the row is."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from grader.domain.errors import BadInputError
from grader.domain.verdict import Finding, Status, Verdict
from grader.reports import class_statistics, formats
from grader.reports.row import LessonFacts, StudentResult, summary
from grader.teaching.batch import (
    batch_plan,
    batch_verb,
    class_rows,
    earlier_runs,
    late_policy,
    overrides,
    report_files,
)
from grader.teaching.batch.batch_plan import Entry, Plan
from grader.teaching.batch.journal import Journal, Line
from grader.teaching.batch.results_folder import ResultsFolder

if TYPE_CHECKING:
    from pathlib import Path

    from grader.reports.row import Class, Row

LESSON = "03_square_kernel"
HEAD = "student,lesson,check,points,excuse,comment,extension,author,reason\n"
DUE = 1_000_000.0
VERDICT = Verdict(
    LESSON, "x.py", "simt", "cpu",
    (Finding("load", Status.PASSED, "", 4, 4), Finding("odd sizes", Status.WRONG_OUTPUT, "No.", 0, 6)), 1.0,
)  # fmt: skip
# These two are the grader's own word, before anything is taken off or decided.
GRADERS_OWN = {"json"}


def results(folder: Path, policy: late_policy.Policy, *entries: Entry) -> ResultsFolder:
    """A folder as a batch leaves it, with one verdict for all."""
    made = ResultsFolder(folder)
    journal = Journal(made.journal)
    digest = made.keep("k", VERDICT)
    journal.append(
        Line(key="k", subject="s", lesson=LESSON, digest=digest, **msgspec.structs.asdict(summary(VERDICT)))
    )
    journal.close()
    plan = Plan(entries, {}, (LessonFacts(LESSON, "Square", 10),), policy)
    made.plan.write_text(plan.text("class"))
    return made


def graded(student: str, when: float | None = None, **more: object) -> Entry:
    return Entry(student, LESSON, when=when, subject="s", key="k", file="x.py", **more)  # type: ignore[arg-type]


def rows(made: ResultsFolder, text: str) -> tuple[Class, dict[str, Row]]:
    (made.root / overrides.NAME).write_text(HEAD + text)
    result = class_rows.collect(made)
    return result, {row.student: row for row in result.rows}


def test_points_excuses_comments_and_extensions(tmp_path: Path) -> None:
    policy = late_policy.Policy(DUE, 50.0)
    made = results(
        tmp_path, policy, graded("ann"), graded("ben", DUE + 60), graded("cleo", DUE + 60),
        graded("dora"), graded("eve", DUE + 3 * 86_400), Entry("finn", LESSON, missing="Nothing."),
    )  # fmt: skip
    _, found = rows(
        made,
        "ann,3,,+2,,,,Prof. A,the drawing was right\nann,,,,,Well explained.,,Prof. A,\n"
        "ben,,,,,,+1d,Prof. A,ill\ncleo,03,odd sizes,6,,,,Prof. B,wrong test\n"
        f"dora,{LESSON},,,yes,,,Prof. A,ill\neve,,,,,,+2d,Prof. A,travel\nfinn,,,7,,,,Prof. A,oral exam\n",
    )
    points = {name: (row.points, row.adjusted, row.penalty, row.grade) for name, row in found.items()}
    assert points == {
        "ann": (6, 2, 0, 6), "ben": (4, 0, 0, 4), "cleo": (5, 6, 5, 5), "dora": (4, 0, 0, None),
        "eve": (2, 0, 2, 2), "finn": (7, 7, 0, 7),
    }  # fmt: skip
    assert found["ann"].by_hand == (
        "4 points became 6 by Prof. A: the drawing was right.", "Comment by Prof. A: Well explained.",
    )  # fmt: skip
    assert "odd sizes: 0 points became 6 by Prof. B: wrong test." in found["cleo"].by_hand
    assert any(note.startswith("Extension until") and "ill" in note for note in found["ben"].notes)
    assert found["ben"].late == 0.0 and found["eve"].late == pytest.approx(86_400)
    assert found["dora"].excused and found["dora"].by_hand == ("Excused by Prof. A: ill.",)
    assert all(row.points == row.earned - row.penalty + row.adjusted for row in found.values())


def test_every_report_has_the_author_and_the_reason(tmp_path: Path) -> None:
    made = results(tmp_path, late_policy.Policy(), graded("ann"))
    result, found = rows(made, "ann,,,9,,,,Prof. Ada,oral exam went well\n")
    row = found["ann"]
    shown = "4 points became 9 by Prof. Ada: oral exam went well."
    for name, one in formats.of_student().items():
        text = one.write(StudentResult(row, VERDICT))
        assert (shown in text.replace("\\", "")) is (name not in GRADERS_OWN), name
    for name in ("csv", "json", "html", "junit"):
        assert shown in formats.of_class()[name].write(result), name
    report_files.write_again(tmp_path, ())
    page = made.student("ann", LESSON) / "report.html"
    assert shown in page.read_text()
    (tmp_path / overrides.NAME).write_text(HEAD)  # taken back: the student's page follows
    report_files.write_again(tmp_path, ())
    assert (
        shown not in page.read_text() and "Prof. Ada" not in (tmp_path / "reports" / "class.csv").read_text()
    )


def test_pages_and_tables_follow_a_due_date_that_is_given_later(tmp_path: Path) -> None:
    entries = graded("ann", DUE + 60, ids={"canvas": "11"}), Entry("ben", LESSON, unclear="ben.rar: look.")
    made = results(tmp_path, late_policy.Policy(), *entries)
    report_files.write_again(tmp_path, ("canvas", "html"))
    page, table = made.student("ann", LESSON) / "report.html", made.reports / "canvas.csv"
    assert "<b>4 / 10</b>" in page.read_text() and ",4\n" in table.read_text().replace("\r", "")
    plan = Plan(entries, {}, (LessonFacts(LESSON, "Square", 10),), late_policy.Policy(DUE, 50.0))
    made.plan.write_text(plan.text("class", "git"))
    (tmp_path / overrides.NAME).write_text(HEAD + "ben,,,7,,,,Prof. A,read on paper\n")
    report_files.write_again(tmp_path, ())
    assert "<b>2 / 10</b>" in page.read_text() and ",2\n" in table.read_text().replace("\r", "")
    other = (made.student("ben", LESSON) / "report.html").read_text()
    assert "<b>7 / 10</b>" in other and "read on paper" in other
    assert batch_plan.dates(made.plan) == (late_policy.Policy(DUE, 50.0), "git")
    assert batch_plan.dates(tmp_path / "nothing") is None


def test_canvas_knows_excuses_and_what_is_no_grade_yet(tmp_path: Path) -> None:
    entries = (
        graded("11", ids={"canvas": "11", "sis": "s11", "login": "ann"}), graded("-rf"),
        Entry("miss", LESSON, missing="Nothing."), Entry("ref", LESSON, refused="Empty."),
        Entry("rar", LESSON, unclear="eve.rar: a .rar archive."),
        Entry("held", LESSON, missing="-", held="Whose?"),
    )  # fmt: skip

    def cells(*final: str) -> dict[str, list[str]]:
        made = results(tmp_path / ("-".join(final) or "none"), late_policy.parse("", "", 0, final), *entries)
        result, _ = rows(made, "11,,,,y,,,A,ill\n")
        return {
            c[0]: c for c in list(csv.reader(io.StringIO(formats.of_class()["canvas"].write(result))))[2:]
        }

    first = cells()
    assert first["11"] == ["11", "11", "s11", "ann", "", "EX"] and first["'-rf"][1:] == [
        "",
        "-rf",
        "",
        "",
        "4",
    ]
    assert [first[k][5] for k in ("miss", "ref", "rar", "held")] == ["", "", "", ""]
    assert [cells("missing", "refused")[k][5] for k in ("miss", "ref", "rar", "held")] == ["0", "0", "", ""]


def test_points_that_wait_are_no_grade_before_the_teacher_says_so() -> None:
    waiting = replace(VERDICT, findings=(*VERDICT.findings, Finding("ratio", Status.PENDING_GPU, "", 0, 2)))
    line = Line(key="k", subject="s", **msgspec.structs.asdict(summary(waiting)))
    facts = (LessonFacts(LESSON, "Square", 12),)
    for final, grade in (((), None), (("open",), 4)):
        plan = Plan((graded("ann"),), {}, facts, late_policy.Policy(final=final))
        (row,) = class_rows.collected(plan, "x", {"s": line}).rows
        assert row.grade == grade and row.open == 2


def test_no_format_for_a_student_has_a_score_before_there_is_a_grade(tmp_path: Path) -> None:
    """Refused, missing, unclear: what reads scores gets none, until the teacher says what they count."""
    facts = (LessonFacts(LESSON, "Square", 10),)
    entries = (
        Entry("ref", LESSON, refused="Empty.", file="r.py"), Entry("miss", LESSON, missing="Nothing."),
        Entry("rar", LESSON, unclear="eve.rar: a .rar archive."),
    )  # fmt: skip
    scores = {"gradescope/results.json", "classroom50/result.json", "exercism/results.json"}
    for final in ((), ("missing", "refused")):
        folder = ResultsFolder(tmp_path / str(len(final)))
        plan = Plan(entries, {}, facts, late_policy.Policy(final=final))
        result = class_rows.collected(plan, "x", {})
        for row in result.rows:
            report_files.write_student(folder, row, VERDICT, tuple(formats.of_student()))
            home, zero = folder.student(row.student, LESSON), row.state in final
            there = {n for n in scores if (home / n).exists() and "score" in (home / n).read_text()}
            assert there == (scores - {"exercism/results.json"} if zero else set()), row.state
            assert (home / "exercism/results.json").exists() is zero
            assert ('gradable": true' in (home / "prairielearn/results.json").read_text()) is zero
            assert ("# 0 of 10 points" in (home / "results.tap").read_text()) is zero
        table = list(csv.DictReader(io.StringIO(formats.of_class()["csv"].write(result))))
        assert [line["points"] for line in table] == ["0" if r.state in final else "" for r in result.rows]


def test_a_fault_in_one_check_is_no_grade_and_has_a_reason(tmp_path: Path) -> None:
    fault = replace(
        VERDICT, findings=(*VERDICT.findings, Finding("hidden: x", Status.NOT_GRADABLE, "", 0, 2))
    )
    line = Line(key="k", subject="s", **msgspec.structs.asdict(summary(fault)))
    plan = Plan((graded("ann"),), {}, (LessonFacts(LESSON, "Square", 12),), late_policy.Policy())
    (row,) = class_rows.collected(plan, "x", {"s": line}).rows
    assert row.state == "not_gradable" and row.grade is None and len(row.first) > len("hidden: x: ")
    assert '"score"' not in formats.of_student()["gradescope"].write(StudentResult(row, fault))
    folder = ResultsFolder(tmp_path)
    report_files.write_student(folder, row, fault, tuple(formats.of_student()))
    names = {p.parent.name for p in folder.student("ann", LESSON).rglob("result*.json")}
    assert not names & {"classroom50", "exercism"} and "gradescope" in names


def test_a_verdict_that_was_edited_is_noticed(tmp_path: Path) -> None:
    made = results(tmp_path, late_policy.Policy(), graded("ann"))
    assert class_rows.EDITED not in rows(made, "")[1]["ann"].notes
    path = made.verdict_path("k")
    path.write_text(path.read_text().replace('"points": 0', '"points": 6'))
    row = rows(made, "")[1]["ann"]
    assert class_rows.EDITED in row.notes and row.points == 4


@pytest.mark.parametrize(
    "line, said",
    [
        ("zoe,,,1,,,,A,b", r"line 2: there is no student 'zoe'"), ("ann,07,,1,,,,A,b", "lesson '07' is not"),
        ("ann,,,1.5,,,,A,b", "no whole number"), ("ann,,,1,,,,,", "author and a reason"),
        ("ann,,,,perhaps,,,A,b", "neither yes nor no"), (",,,1,,,,A,b", "names no student"),
        ("ann,,,,,,soon,A,b", "no time"),
    ],
)  # fmt: skip
def test_a_line_that_cannot_be_followed_is_one_sentence(line: str, said: str, tmp_path: Path) -> None:
    made = results(tmp_path, late_policy.Policy(), graded("ann"))
    with pytest.raises(BadInputError, match=said):
        rows(made, f"{line}\n")


def test_a_column_that_is_not_known_is_one_sentence(tmp_path: Path) -> None:
    made = results(tmp_path, late_policy.Policy(), graded("ann"))
    (tmp_path / overrides.NAME).write_text("student,bonus\nann,3\n")
    with pytest.raises(BadInputError, match="column 'bonus'"):
        class_rows.collect(made)


def test_points_above_the_most_and_checks_that_do_not_exist_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = results(tmp_path, late_policy.Policy(), graded("ann"), graded("ben"), graded("cleo"))
    result, found = rows(
        made,
        "ann,,,99,,,,A,typed\nben,,odd shapes,3,,,,A,typed\ncleo,,odd sizes,7,,,,A,typed\n"
        "cleo,,,+2,,,,A,bonus\n",
    )
    first, second, third, fourth = result.facts["overrides"].splitlines()
    assert "line 2: ann, lesson 03, is given 99 points of the 10 that the lesson has" in first
    assert "line 3: ben, lesson 03, has no check 'odd shapes'" in second and "load, odd sizes" in second
    assert "line 4: cleo" in third and "7 points of the 6 that check 'odd sizes' has" in third
    assert "line 5: cleo, lesson 03, is given 13 points of the 10" in fourth
    assert (found["ann"].points, found["ben"].points, found["cleo"].points) == (99, 4, 13)
    assert found["ben"].by_hand == ()  # what a student reads is nothing of the teacher's mistake
    assert batch_verb.report(tmp_path, (), "-") == 0
    assert "odd shapes" in capsys.readouterr().out
    assert "odd shapes" in (made.reports / "index.html").read_text()
    assert "overrides" not in rows(made, "ann,,,10,,,,A,right\n")[0].facts


def test_means_count_who_has_points_by_hand_and_say_how_many(tmp_path: Path) -> None:
    made = results(
        tmp_path, late_policy.Policy(), graded("ann"), graded("ben"), Entry("cleo", LESSON, missing="-"),
        Entry("dora", LESSON, missing="-"),
    )  # fmt: skip
    result, _ = rows(made, "cleo,,,8,,,,A,oral exam\nben,,,,yes,,,A,ill\n")
    whole = class_statistics.of_class(result)[0].whole
    assert (whole.students, whole.graded, whole.counted) == (4, 2, 2)  # ann and cleo
    assert whole.share == pytest.approx(0.6)
    page = formats.of_class()["html"].write(result)
    assert "<b>6.0</b> points on average, of 2 rows that have points" in page
    assert "The 2 who have points have 60 %" in formats.of_class()["statistics"].write(result)


def test_what_an_earlier_run_graded_is_kept_and_said(tmp_path: Path) -> None:
    made = results(tmp_path, late_policy.Policy(), graded("ann"), graded("ben"))
    other = LessonFacts("07_fused_bias_relu", "Fused", 20)
    entries = (Entry("ann", other.name, subject="t", key="u"), Entry("cleo", other.name, missing="-"))
    whole, said = earlier_runs.kept(Plan(entries, {}, (other,), late_policy.Policy()), "class", made)
    assert [(e.student, e.lesson[:2]) for e in whole.entries] == [
        ("ann", "03"), ("ben", "03"), ("ann", "07"), ("cleo", "07"),
    ]  # fmt: skip
    assert [x.name for x in whole.lessons] == [LESSON, other.name]
    assert len(said) == 1 and "2 rows of an earlier run" in said[0] and "ann, ben" in said[0]
    one = results(tmp_path / "one", late_policy.Policy(), graded("ann"))
    (told,) = earlier_runs.kept(Plan(entries, {}, (other,), late_policy.Policy()), "class", one)[1]
    assert "keep 1 row of an earlier run" in told
    # Another folder for the same lesson: its list says that ann is missing, whose file was graded before.
    facts = (LessonFacts(LESSON, "Square", 10),)
    now = (Entry("ann", LESSON, missing="-"), graded("dora"))
    whole, said = earlier_runs.kept(Plan(now, {}, facts, late_policy.Policy()), "section B", made)
    assert [(e.student, e.subject) for e in whole.entries] == [("ann", "s"), ("ben", "s"), ("dora", "s")]
    assert earlier_runs.NOTE in whole.entries[0].notes and earlier_runs.NOTE not in whole.entries[2].notes
    with pytest.raises(BadInputError, match="Name another --out"):
        earlier_runs.kept(Plan(now, {}, facts, late_policy.Policy(DUE, 50.0)), "section B", made)
    same = (graded("ann"), graded("ben"))
    assert earlier_runs.kept(Plan(same, {}, facts, late_policy.Policy(DUE)), "class", made)[1] == []
