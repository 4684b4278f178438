"""What a class's results say about the teaching, on a page to read and to print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.domain.disk import slug
from grader.domain.try_log import PAUSE_S
from grader.reports import charts, class_statistics
from grader.reports.formats import ClassFormat
from grader.reports.formats.html_page import environment

if TYPE_CHECKING:
    from grader.reports.class_statistics import LessonStatistics, Spread
    from grader.reports.row import Class, Row

MOST_BARS = 8
MOST_LINKS = 40


def text(result: Class) -> str:
    """The page. Links lead to ``students/`` beside the folder that this file is written to."""
    lessons = class_statistics.of_class(result)
    term = ""
    if len(lessons) > 1:
        shares = [
            (x.facts.name[:2], x.whole.share, x.whole.graded / max(1, x.whole.students)) for x in lessons
        ]
        term = charts.term(shares, "Mean share of the points, and share of students graded.")
    made: str = (
        environment()
        .get_template("statistics.html")
        .render(result=result, lessons=[(x, _plot(x)) for x in lessons], term=term, links=_links,
                fewest=class_statistics.FEWEST, spread=_spread, pause=round(PAUSE_S / 60))
    )  # fmt: skip
    return made


def _plot(one: LessonStatistics) -> str:
    failed = [(f"{c.name} ({c.failed} of {c.reached})", c.failed) for c in one.checks if c.failed][:MOST_BARS]
    if not failed:
        return ""
    return charts.missed(failed, one.whole.graded, f"Checks that students did not pass, {one.facts.name}.")


def _spread(one: Spread) -> str:
    return f"median {one.median:.0f}, half of them {one.low:.0f} to {one.high:.0f}"


def _links(rows: tuple[Row, ...]) -> list[tuple[str, str]]:
    """(address, name) of students' pages; of many the first, and then how many more."""
    shown = [(f"../students/{slug(r.student)}/{r.lesson}/report.html", r.student) for r in rows[:MOST_LINKS]]
    return [*shown, *([("index.html", f"{len(rows) - MOST_LINKS} more")] if rows[MOST_LINKS:] else [])]


FORMATS = (
    ClassFormat(
        name="statistics",
        file="statistics.html",
        help="Statistics for the teaching: by check, mistake, section, over the term; printable.",
        write=text,
        always=True,
    ),
)
