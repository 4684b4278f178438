"""Every format is valid for who reads it, holds the same points, and survives whatever a submission says."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace

import jsonschema
import junitparser
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from grader.domain.lessons import course_root
from grader.domain.verdict import Finding, Status, Verdict
from grader.profiling import compare_verb
from grader.reports import charts, class_page, class_table, console, html_page, junit, markdown
from grader.reports.row import Class, LessonFacts, Row, summary
from grader.teaching.batch import class_reports, personal
from grader.teaching.batch.batch_plan import Entry, Plan
from grader.teaching.batch.class_rows import collected
from grader.teaching.batch.late_policy import Policy
from tests.reports.platforms import SCHEMAS
from tests.speeds import measured, none, predicted

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
    if status in (Status.PENDING_GPU, Status.NOT_RUN, Status.NOT_GRADABLE):
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
        lines[f"subject{n}"] = {"key": f"key{n}", "subject": f"subject{n}", **summary(verdict)}
    entries.append(Entry("absent", "03_square_kernel", missing="Nothing was handed in."))
    entries.append(Entry("refused", "03_square_kernel", refused="It is empty.", file="y.py"))
    facts = (LessonFacts("03_square_kernel", "Square", 20),)
    plan = Plan(tuple(entries), {}, facts, Policy(0.0, 10.0))
    return collected(plan, draw(NASTY), lines), made


def totals(result: Class, made: list[Verdict]) -> dict[str, int]:
    """The class's points as each format has them."""
    rows = result.rows
    out = {"json": sum(r["points"] for r in json.loads(class_reports.FORMATS["json"][1](result))["rows"])}
    parsed = list(csv.DictReader(io.StringIO(class_table.text(result))))
    out["csv"] = sum(int(r["points"]) for r in parsed)
    canvas = list(csv.reader(io.StringIO(class_table.canvas(result))))[2:]
    left = sum(r.points for r in rows if r.state == "not_gradable")
    out["canvas"] = sum(int(r[-1] or 0) for r in canvas) + left
    suites = junitparser.JUnitXml.fromstring(junit.text(result).encode())
    facts = [{p.name: p.value for p in suite.properties()} for suite in suites]
    out["junit"] = sum(int(f["points"]) for f in facts)
    rows_of_page = class_page.text(result).partition('id="all"')[2]
    cells = re.findall(r'<td class="n">(\d+)</td><td class="n">\d+</td>', rows_of_page)
    out["html"] = sum(map(int, cells))
    assert len(cells) == len(rows)
    pairs = list(zip(rows, made, strict=False))
    rest = sum(r.points for r in rows[len(made) :])
    for name, (_, writer) in personal.FORMATS.items():
        out[name] = rest
        for row, verdict in pairs:
            data = json.loads(writer(row, verdict))
            if name == "prairielearn":
                out[name] += round(data["score"] * row.max_points)
            else:
                out[name] += data["points" if name == "exercism" else "score"]
    out["markdown"] = rest + sum(int(_stars(markdown.text(r, v))) for r, v in pairs)
    out["page"] = rest + sum(int(_bold(html_page.text(r, v))) for r, v in pairs)
    return out


def _stars(text: str) -> str:
    return re.findall(r"^\*\*(\d+) of \d+ points\*\*", text, re.M)[0]


def _bold(text: str) -> str:
    return re.findall(r"<li><b>(\d+) / \d+</b> points</li>", text)[0]


@pytest.fixture(scope="module", autouse=True)
def _without_pictures() -> Iterator[None]:
    """They take most of the time and hold no points; a test of their own draws them."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("points", "speeds", "missed"):
            patch.setattr(charts, name, lambda *_: "")
        yield


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), phases=QUICK)
@given(classes())
def test_points_are_equal_in_all_formats_and_each_is_valid(made: tuple[Class, list[Verdict]]) -> None:
    result, given_verdicts = made
    expected = sum(row.points for row in result.rows)
    found = totals(result, given_verdicts)
    assert found == dict.fromkeys(found, expected) and len(found) == 11
    jsonschema.validate(result.as_json(), CLASS_SCHEMA)
    assert Class.from_json(json.loads(json.dumps(result.as_json()))) == result
    for row, verdict in zip(result.rows, given_verdicts, strict=False):
        assert row.points + row.penalty == row.earned == verdict.points
        for name, (_, writer) in personal.FORMATS.items():
            jsonschema.validate(json.loads(writer(row, verdict)), SCHEMAS[name])
        points = [
            (t["score"], t["max_score"])
            for t in json.loads(personal.FORMATS["gradescope"][1](row, verdict))["tests"]
        ]
        assert [sum(x) for x in zip(*points, strict=True)] == [row.earned, row.max_points]


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_refuse_what_is_wrong(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])
    row, verdict = _plain()
    data = json.loads(personal.FORMATS[name][1](row, verdict))
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
    from grader.reports.row import row_of

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
    for text in (html_page.text(row, verdict), class_page.text(result), class_page.leaderboard(result)):
        assert evil not in text and "&lt;script&gt;" in text
    assert evil not in junit.text(result)
    assert evil not in markdown.text(row, verdict).replace("```\n" + evil, "").split("````text")[0]
    cells = list(csv.reader(io.StringIO(class_table.text(result))))[1]
    assert cells[0].startswith("'=") and cells[3] == "'@x"


def test_where_the_clocks_disagree_no_report_says_a_speed() -> None:
    row, verdict = _plain()
    for why, shown in (("", True), ("a call that waits", False)):
        verdict = replace(verdict, speed=measured(whole_ratio=12.345, interval=[12.3, 12.4], why=why))
        row = replace(row, speed=summary(verdict)["speed"], status="passed", state="graded")
        result = Class("x", "2026-11-21T00:00:00Z", (LessonFacts(row.lesson, "x", 5),), (row,), {})
        texts = [markdown.text(row, verdict), class_page.leaderboard(result), class_page.text(result)]
        assert [("12.3" in text) for text in texts] == [shown] * 3
        assert ("<b>12.3" in html_page.text(row, verdict)) is shown
        assert ("a call that waits" in html_page.text(row, verdict)) is not shown
        assert ("a call that waits" in markdown.text(row, verdict)) is not shown
        assert ("12.3" in console.speed_text(verdict.speed)) is shown
        assert (compare_verb.entry("x", replace(verdict, findings=())).ratio is not None) is shown


def test_classroom50_takes_whose_it_is_from_its_runner() -> None:
    from grader.reports import classroom50

    env = {
        "CLASSROOM": "gpu", "ASSIGNMENT": "l07", "OWNER": "ann",
        "SUBMISSION_TAG": "submit/2026-11-20T10-11-12Z-abc",
        "COMMIT_URL": "https://x/c", "RELEASE_URL": "https://x/r", "ASSIGNMENT_TYPE": "group",
    }  # fmt: skip
    data = json.loads(classroom50.text(*_plain(), env=env))
    jsonschema.validate(data, SCHEMAS["classroom50"])
    assert (data["owner"], data["datetime"], data["review"]) == ("ann", "2026-11-20T10:11:12Z", "https://x/c")
