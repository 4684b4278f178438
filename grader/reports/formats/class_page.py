"""The class as web pages that need no server: a report for the teacher, a leaderboard for everybody."""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import TYPE_CHECKING

from grader.domain.disk import slug
from grader.reports import charts, class_statistics
from grader.reports.formats import ClassFormat
from grader.reports.formats.html_page import environment
from grader.reports.wording import outcome, waiting_for

if TYPE_CHECKING:
    from grader.reports.row import Class, LessonFacts, Row, SpeedSummary

MOST_CHECKS = 8


def text(result: Class) -> str:
    """The class report. Links lead to ``students/`` beside the folder that this file is written to."""
    import statistics

    counted = [row.points for row in result.rows if row.counted]
    states = Counter(row.state for row in result.rows)
    shown: str = (
        environment()
        .get_template("class.html")
        .render(
            result=result,
            states=[(state.replace("_", " "), n) for state, n in states.most_common()],
            points={
                "mean": statistics.mean(counted),
                "median": f"{statistics.median(counted):g}",
                "of": len(counted),
            }
            if counted
            else None,
            waiting=sum(row.open for row in result.rows),
            waiting_for=waiting_for(status for row in result.rows for status in row.statuses),
            lessons=[_lesson(facts, result) for facts in result.lessons],
            look=[file for file in result.files if file.look],
            doubts=result.facts.get("overrides", "").splitlines(),
            body="\n".join(map(_row, result.rows)),
        )
    )
    return shown


def leaderboard(result: Class) -> str:
    """Speeds of passed files, fastest first; names only of those who gave one for this."""
    lessons = []
    for facts in result.lessons:
        rows = [(r.speed, r) for r in result.rows if r.lesson == facts.name and r.passed and r.speed]
        rows.sort(key=lambda pair: -pair[0].whole_ratio)
        if rows:
            lessons.append({"facts": facts, "places": [_place(row, speed) for speed, row in rows]})
    page: str = environment().get_template("leaderboard.html").render(result=result, lessons=lessons)
    return page


def _place(row: Row, speed: SpeedSummary) -> dict[str, object]:
    known = speed.low is not None and speed.high is not None
    span = f"{speed.low:.2f} to {speed.high:.2f}" if known else ""
    return {"who": row.nick or "a student", "speed": speed, "span": span}


def _lesson(facts: LessonFacts, result: Class) -> dict[str, object]:
    graded = [r for r in result.rows if r.lesson == facts.name and r.state == "graded"]
    missed = [c for c in class_statistics.checks(graded) if c.failed]
    drawn = []
    values = [min(r.points, facts.max_points) for r in result.rows if r.lesson == facts.name and r.counted]
    if values:
        caption = f"Points of {len(values)} students who have any; {facts.max_points} are the most."
        drawn.append({"svg": charts.points(values, facts.max_points, caption), "caption": caption})
    speeds = [r.speed for r in graded if r.speed]
    if speeds:
        kinds = sorted({speed.kind for speed in speeds})
        about = "the bars are 95 % intervals" if "measured" in kinds else "no clock was read"
        caption = (
            f"Speed of {len(speeds)} passed files, {' and '.join(kinds)}; {about}. The line is the framework."
        )
        drawn.append({"svg": charts.speeds([_ratio(speed) for speed in speeds], caption), "caption": caption})
    if missed:
        caption = "Checks that most of those who reached them did not pass."
        pairs = [(f"{m.name} ({m.failed} of {m.reached})", m.failed) for m in missed[:MOST_CHECKS]]
        drawn.append({"svg": charts.missed(pairs, len(graded), caption), "caption": caption})
    return {"facts": facts, "plots": drawn, "missed": missed}


def _ratio(speed: SpeedSummary) -> tuple[float, float, float]:
    ratio = speed.whole_ratio
    low, high = (ratio if end is None else end for end in (speed.low, speed.high))
    return ratio, min(ratio, low), max(ratio, high)


def _row(row: Row) -> str:
    """A row of the long table: by hand, since a template takes ten times as long for ten thousand."""
    kind = outcome(row.status)
    speed = f"{row.speed.whole_ratio:.2f}" if row.speed else ""
    note = escape(" ".join([*row.remarks, row.first if row.state != "graded" else ""]))
    points = "" if row.shown is None else row.points
    link = f"../students/{slug(row.student)}/{row.lesson}/report.html"
    return (
        f'<tr><td><a href="{escape(link)}">{escape(row.student)}</a></td><td>{escape(row.name)}</td>'
        f"<td>{escape(row.section)}</td><td>{escape(row.lesson[:2])}</td><td>{row.state}</td>"
        f'<td class="{kind}">{row.status}</td><td class="n">{points}</td>'
        f'<td class="n">{row.max_points}</td><td class="n">{row.open or ""}</td>'
        f'<td class="n">{speed}</td><td>{note}</td></tr>'
    )


FORMATS = (
    ClassFormat(
        name="html",
        file="index.html",
        help="The class on a page: points, speeds, most missed checks, every row.",
        write=text,
        always=True,
    ),
    ClassFormat(
        name="leaderboard",
        file="leaderboard.html",
        help="Speeds of passed files, for everybody; names only of those who gave one.",
        write=leaderboard,
    ),
)
