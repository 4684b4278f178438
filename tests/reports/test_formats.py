"""Every format is valid for who reads it, holds the same points, and survives whatever a submission says."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import jsonschema
import junitparser
import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from grader.domain.errors import BadInputError
from grader.domain.lessons import course_root
from grader.domain.verdict import PENDING, Finding, Status, Verdict
from grader.profiling import compare_verb
from grader.reports import charts, class_statistics, console, formats
from grader.reports.formats import classroom50
from grader.reports.row import Class, LessonFacts, Row, StudentResult, row_of, summary
from grader.teaching.batch.batch_plan import Entry, Plan
from grader.teaching.batch.class_rows import collected
from grader.teaching.batch.journal import Line
from grader.teaching.batch.late_policy import Policy
from tests.reports.platforms import SCHEMAS
from tests.speeds import measured, none, predicted

if TYPE_CHECKING:
    from collections.abc import Iterator

# Halves of surrogate pairs excepted: layouts make text of such names, and the wire of such messages.
NASTY = st.text(
    st.one_of(
        st.characters(codec="utf-8"), st.sampled_from("<>&\"'`|=+-@#*[](){}\\\n\r\t\x00\x1b\u2028\ufffe,;")
    ),
    max_size=40,
)
CLASS_SCHEMA = json.loads((course_root() / "grader/domain/schema/class.v1.json").read_text())
QUICK = (Phase.explicit, Phase.reuse, Phase.generate)  # a failure is small enough as it is
GRADED = st.sampled_from(list(Status))


@st.composite
def findings(draw: st.DrawFn) -> Finding:
    most, status = draw(st.integers(0, 9)), draw(GRADED)
    points = most if status is Status.PASSED else draw(st.integers(0, most // 2))
    if status in PENDING | {Status.NOT_RUN, Status.NOT_GRADABLE}:
        points = 0
    return Finding(draw(NASTY.filter(bool)), status, draw(NASTY), points, most)


SPEEDS = st.sampled_from([None, none(), predicted(), measured(), measured(why="the clocks <differ>")])


@st.composite
def verdicts(draw: st.DrawFn) -> Verdict:
    return Verdict(
        "03_square_kernel", "x.py", "simt", draw(NASTY),
        tuple(draw(st.lists(findings(), min_size=1, max_size=5))), draw(st.floats(0, 1e4)),
        speed=draw(SPEEDS), output=draw(NASTY),
    )  # fmt: skip


@st.composite
def classes(draw: st.DrawFn) -> tuple[Class, list[Verdict]]:
    """A class as the batch makes it: some late, some missing or refused."""
    made = draw(st.lists(verdicts(), min_size=1, max_size=4))
    entries, lines = [], {}
    for n, verdict in enumerate(made):
        entries.append(
            Entry(
                f"s{n}" + draw(NASTY), verdict.lesson, draw(NASTY), draw(NASTY), draw(NASTY), draw(NASTY),
                "x.py", (draw(NASTY),), draw(st.sampled_from([0.0, 5.0, 2e5])), f"subject{n}", f"key{n}",
            )
        )  # fmt: skip
        short = msgspec.structs.asdict(summary(verdict))
        lines[f"subject{n}"] = Line(key=f"key{n}", subject=f"subject{n}", **short)
    entries.append(Entry("absent", "03_square_kernel", missing="Nothing was handed in."))
    entries.append(Entry("refused", "03_square_kernel", refused="It is empty.", file="y.py"))
    facts = (LessonFacts("03_square_kernel", "Square", 20),)
    plan = Plan(tuple(entries), {}, facts, Policy(0.0, 10.0))
    return collected(plan, draw(NASTY), lines), made


def of_class(name: str, result: Class) -> str:
    return formats.of_class()[name].write(result)


def of_student(name: str, row: Row, verdict: Verdict) -> str:
    return formats.of_student()[name].write(StudentResult(row, verdict))


def in_canvas(text: str, result: Class) -> int:
    left = sum(r.points for r in result.rows if r.grade is None and r.shown is not None)
    return sum(int(r[-1] or 0) for r in list(csv.reader(io.StringIO(text)))[2:]) + left


def in_class_page(text: str, result: Class) -> int:
    cells = re.findall(r'<td class="n">(\d*)</td><td class="n">\d+</td>', text.partition('id="all"')[2])
    assert len(cells) == len(result.rows)
    return sum(int(cell or 0) for cell in cells)


def in_junit(text: str, result: Class) -> int:
    suites = list(junitparser.JUnitXml.fromstring(text.encode()))
    facts = [{p.name: p.value for p in suite.properties()} for suite in suites]
    return sum(int(f["points"] or 0) for f in facts)


# How to find the points in a report: of a class, and of one student (text, most points of the row).
POINTS_OF_CLASS = {
    "json": lambda text, result: sum(
        r["points"]
        for r, row in zip(json.loads(text)["rows"], result.rows, strict=True)
        if row.shown is not None
    ),
    "csv": lambda text, result: sum(int(r["points"] or 0) for r in csv.DictReader(io.StringIO(text))),
    "canvas": in_canvas,
    "junit": in_junit,
    "html": in_class_page,
}
POINTS_OF_STUDENT = {
    "gradescope": lambda text, most: json.loads(text)["score"],
    "classroom50": lambda text, most: json.loads(text)["score"],
    "prairielearn": lambda text, most: round(json.loads(text)["score"] * most),
    "exercism": lambda text, most: json.loads(text)["points"],
    "markdown": lambda text, most: int(re.findall(r"^\*\*(\d+) of \d+ points\*\*", text, re.M)[0]),
    "html": lambda text, most: int(re.findall(r"<li><b>(\d+) / \d+</b> points</li>", text)[0]),
    "tap": lambda text, most: int(re.findall(r"^# (\d+) of \d+ points, \w+$", text, re.M)[-1]),
}
# These have no points, and these two have the verdict's, before anything is taken off.
WITHOUT_POINTS = {"leaderboard", "files", "statistics"}  # and what has grades only: tests/teaching/gradebook
GRADES_ONLY = {"nbgrader", "otter", "prairielearn", "lti"}
BEFORE_PENALTY = {
    "json": lambda text, most: json.loads(text)["points"],
    "text": lambda text, most: int(re.findall(r"(\d+)/\d+ points", text)[-1]),
}


@pytest.fixture(scope="module", autouse=True)
def _without_pictures() -> Iterator[None]:
    """They take most of the time and hold no points; a test of their own draws them."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("points", "speeds", "missed", "term"):
            patch.setattr(charts, name, lambda *_: "")
        yield


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), phases=QUICK)
@given(classes())
def test_points_are_equal_in_all_formats_and_each_is_valid(made: tuple[Class, list[Verdict]]) -> None:
    result, given_verdicts = made
    for name, points in POINTS_OF_CLASS.items():
        assert points(of_class(name, result), result) == sum(row.shown or 0 for row in result.rows), name
    for row, verdict in zip(result.rows, given_verdicts, strict=False):
        assert row.points + row.penalty == row.earned == verdict.points
        for name, points in POINTS_OF_STUDENT.items():
            if name == "gradescope" and row.grade is None:
                assert '"score"' not in of_student(name, row, verdict)
                continue
            if name == "tap" and row.shown is None:
                assert not re.search(r"^# \d+ of", of_student(name, row, verdict), re.M)
                continue
            if name in ("markdown", "html") and not row.standing.endswith("points."):
                said = of_student(name, row, verdict)
                assert "0 of" not in said.partition("|")[0] and "0 /" not in said
                assert ("Excused" if row.excused else "Not graded") in said
                continue
            assert points(of_student(name, row, verdict), row.max_points) == row.points, name
        for name, points in BEFORE_PENALTY.items():
            assert points(of_student(name, row, verdict), row.max_points) == row.earned, name
        for name, schema in SCHEMAS.items():
            jsonschema.validate(json.loads(of_student(name, row, verdict)), schema)
        tests = json.loads(of_student("gradescope", row, verdict))["tests"]
        if row.grade is not None:
            assert sum(t["score"] for t in tests) == row.earned
            assert sum(t["max_score"] for t in tests) == row.max_points
    data = json.loads(of_class("json", result))
    jsonschema.validate(data, CLASS_SCHEMA)
    assert msgspec.convert(data, Class) == result


def test_every_format_is_looked_at() -> None:
    assert set(POINTS_OF_CLASS) | WITHOUT_POINTS | GRADES_ONLY == set(formats.of_class())
    assert set(POINTS_OF_STUDENT) | set(BEFORE_PENALTY) == set(formats.of_student())
    files = [(type(one), one.file) for one in formats.every()]
    assert len(set(files)) == len(files)
    assert all(one.help.endswith(".") for one in formats.every())


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), phases=QUICK)
@given(classes())
def test_what_waits_for_another_machine_fails_nowhere(made: tuple[Class, list[Verdict]]) -> None:
    """A passed verdict with open points has no failure in any format, and its points are open in each."""
    result, given_verdicts = made
    suites = list(junitparser.JUnitXml.fromstring(of_class("junit", result).encode()))
    for row, verdict, suite in zip(result.rows, given_verdicts, suites, strict=False):
        waiting = [f for f in verdict.findings if f.status in PENDING]
        others = PENDING | {Status.NOT_RUN}
        assert row.open == sum(f.max_points for f in waiting)
        facts = {p.name: p.value for p in suite.properties()}
        assert int(facts["open_points"]) == row.open
        failed = [f for f in verdict.findings if not f.ok and f.status not in others]
        assert suite.failures + suite.errors == len(failed)
        assert suite.skipped == sum(f.status in others for f in verdict.findings)
        tap = of_student("tap", row, verdict)
        assert len(re.findall(r"^not ok ", tap, re.M)) == len(failed)
        markdown = of_student("markdown", row, verdict)
        assert ("## First" in markdown) == bool(failed)
        assert len(re.findall(r"^\| .* \| waits for [^|]* \|$", markdown, re.M)) == len(waiting)
        page = of_student("html", row, verdict)
        assert len(re.findall(r'<td class="(?:failed|error)">', page)) == len(failed)
        assert json.loads(of_student("gradescope", row, verdict))["extra_data"]["open_points"] == row.open
        if verdict.ok:
            assert not failed and row.first == ""
            assert all(not c.failed for c in class_statistics.checks([row]))


def test_no_report_knows_a_pending_status_by_its_name() -> None:
    """They ask ``PENDING``, so that none is forgotten when there is one more."""
    folders = [course_root() / "grader" / name for name in ("reports", "teaching", "student", "cli")]
    texts = {path: path.read_text("utf-8") for folder in folders for path in folder.rglob("*.py")}
    assert texts
    assert [
        path.name
        for path, text in texts.items()
        if re.search(r"Status\.PENDING_|[\"']pending_[gc]pu[\"']", text)
    ] == []


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_refuse_what_is_wrong(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])
    row, verdict = _plain()
    data = json.loads(of_student(name, row, verdict))
    jsonschema.validate(data, SCHEMAS[name])
    for broken in (
        {k: v for k, v in data.items() if k not in ("tests", "gradable")},
        data | {"score": "20", "version": 2},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, SCHEMAS[name])


def _plain() -> tuple[Row, Verdict]:
    bad = Finding("memory", Status.RACE, "Two threads.", 0, 3)
    verdict = Verdict(
        "03_square_kernel", "x.py", "simt", "cpu", (Finding("load", Status.PASSED, "", 2, 2), bad), 1.0
    )
    return row_of(verdict, "ann"), verdict


def test_nothing_from_outside_becomes_markup_or_a_formula() -> None:
    row, verdict = _plain()
    evil = "<script>alert(1)</script>"
    row = replace(
        row, name=evil, notes=(evil, "=HYPERLINK(1)"), first=evil, student=f"=1+{evil}", section="@x"
    )
    verdict = replace(
        verdict, output=evil, findings=(Finding(evil, Status.FAILED, evil + "\n```\n# x", 0, 5),)
    )
    result = Class(evil, "2026-11-21T00:00:00Z", (LessonFacts(row.lesson, evil, 5),), (row,), {})
    for text in (of_student("html", row, verdict), of_class("html", result), of_class("leaderboard", result)):
        assert evil not in text and "&lt;script&gt;" in text
    assert evil not in of_class("junit", result)
    assert evil not in of_student("markdown", row, verdict).replace("```\n" + evil, "").split("````text")[0]
    cells = list(csv.reader(io.StringIO(of_class("csv", result))))[1]
    assert cells[0].startswith("'=") and cells[3] == "'@x"


def test_a_students_page_shows_the_line_and_what_to_read() -> None:
    row, verdict = _plain()
    told = {"rule": "guard", "cause": "C.", "fix": "F.", "lesson": "03", "line": 12, "code": "out[i] = x<y;"}
    bad = Finding("memory", Status.ILLEGAL_ACCESS, "Past the end.", 0, 3, {"explanation": told})
    page = of_student("html", row, replace(verdict, findings=(*verdict.findings[:1], bad)))
    assert "Your line 12: <code>out[i] = x&lt;y;</code>" in page and "Lesson 03 explains it." in page
    assert "Your line" not in of_student("html", row, verdict)


def test_where_the_clocks_disagree_no_report_says_a_speed() -> None:
    row, verdict = _plain()
    for why, shown in (("", True), ("a call that waits", False)):
        verdict = replace(verdict, speed=measured(whole_ratio=12.345, interval=[12.3, 12.4], why=why))
        row = replace(row, speed=summary(verdict).speed, status=Status.PASSED, state="graded")
        result = Class("x", "2026-11-21T00:00:00Z", (LessonFacts(row.lesson, "x", 5),), (row,), {})
        texts = [
            of_student("markdown", row, verdict),
            of_class("leaderboard", result),
            of_class("html", result),
        ]
        assert [("12.3" in text) for text in texts] == [shown] * 3
        assert ("<b>12.3" in of_student("html", row, verdict)) is shown
        assert ("a call that waits" in of_student("html", row, verdict)) is not shown
        assert ("a call that waits" in of_student("markdown", row, verdict)) is not shown
        assert ("12.3" in console.speed_text(verdict.speed)) is shown
        assert (compare_verb.entry("x", replace(verdict, findings=())).ratio is not None) is shown


def test_classroom50_takes_whose_it_is_from_its_runner() -> None:
    env = {
        "CLASSROOM": "gpu", "ASSIGNMENT": "l07", "OWNER": "ann",
        "SUBMISSION_TAG": "submit/2026-11-20T10-11-12Z-abc",
        "COMMIT_URL": "https://x/c", "RELEASE_URL": "https://x/r", "ASSIGNMENT_TYPE": "group",
    }  # fmt: skip
    data = json.loads(classroom50.text(StudentResult(*_plain()), env=env))
    jsonschema.validate(data, SCHEMAS["classroom50"])
    assert (data["owner"], data["datetime"], data["review"]) == ("ann", "2026-11-20T10:11:12Z", "https://x/c")


def test_reports_are_asked_for_by_name_and_file() -> None:
    assert formats.parse(["junit=a=b.xml", "tap=-"]) == (("junit", "a=b.xml"), ("tap", "-"))
    for words, said in (
        (["junit"], "names no file"),
        (["pdf=x"], "no format 'pdf'"),
        (["json=-", "tap=-"], "one"),
    ):
        with pytest.raises(BadInputError, match=said):
            formats.parse(words)


@pytest.mark.parametrize("name", sorted({one.name for one in formats.every()}))
def test_one_verdict_can_have_every_format(name: str) -> None:
    _, verdict = _plain()
    text = formats.single(verdict, name, "ann")
    assert text.endswith(("\n", "</html>"))
    if name == "junit":
        (suite,) = junitparser.JUnitXml.fromstring(text.encode())
        assert (suite.name, suite.tests, suite.failures) == ("03_square_kernel.ann", 2, 1)
