"""The class as web pages that need no server: a report for the teacher, a leaderboard for everybody."""

from __future__ import annotations

import statistics
from collections import Counter
from html import escape
from typing import Any

from grader.domain.disk import slug
from grader.domain.verdict import PENDING, Status
from grader.reports import charts
from grader.reports.html_page import environment
from grader.reports.row import Class, LessonFacts, Row
from grader.reports.words import outcome

MOST_CHECKS = 8


def text(result: Class) -> str:
    """The class report. Links lead to ``students/`` beside the folder that this file is written to."""
    graded = [row.points for row in result.rows if row.state != "not_gradable"]
    states = Counter(row.state for row in result.rows)
    shown: str = (
        environment()
        .get_template("class.html")
        .render(
            result=result,
            states=[(state.replace("_", " "), n) for state, n in states.most_common()],
            points={"mean": statistics.mean(graded), "median": f"{statistics.median(graded):g}"}
            if graded
            else None,
            waiting=sum(row.open for row in result.rows),
            lessons=[_lesson(facts, result) for facts in result.lessons],
            body="\n".join(map(_row, result.rows)),
        )
    )
    return shown


def leaderboard(result: Class) -> str:
    """Speeds of passed files, fastest first; names only of those who gave one for this."""
    lessons = []
    for facts in result.lessons:
        rows = [r for r in result.rows if r.lesson == facts.name and r.passed and r.speed]
        rows.sort(key=lambda r: -(r.speed or {})["whole_ratio"])
        if rows:
            lessons.append({"facts": facts, "places": [_place(r) for r in rows]})
    page: str = environment().get_template("leaderboard.html").render(result=result, lessons=lessons)
    return page


def _place(row: Row) -> dict[str, Any]:
    speed = row.speed or {}
    span = f"{speed['low']:.2f} to {speed['high']:.2f}" if "low" in speed else ""
    return {
        "who": row.nick or "a student", "ratio": speed["whole_ratio"], "span": span, "kind": speed["kind"],
        "device": speed["device"],
    }  # fmt: skip


def _lesson(facts: LessonFacts, result: Class) -> dict[str, Any]:
    rows = [r for r in result.rows if r.lesson == facts.name and r.state != "missing"]
    graded = [r for r in rows if r.state == "graded"]
    missed = _missed(graded)
    drawn = []
    if rows:
        values = [min(r.points, facts.max_points) for r in rows]
        caption = f"Points of {len(rows)} students who handed in; {facts.max_points} are the most."
        drawn.append({"svg": charts.points(values, facts.max_points, caption), "caption": caption})
    ratios = [_ratio(r) for r in graded if r.speed]
    if ratios:
        kinds = sorted({(r.speed or {})["kind"] for r in graded if r.speed})
        about = "the bars are 95 % intervals" if "measured" in kinds else "no clock was read"
        caption = (
            f"Speed of {len(ratios)} passed files, {' and '.join(kinds)}; {about}. The line is the framework."
        )
        drawn.append({"svg": charts.speeds(ratios, caption), "caption": caption})
    if missed:
        caption = "Checks that most students did not pass."
        pairs = [(m["name"], m["missed"]) for m in missed]
        drawn.append({"svg": charts.missed(pairs, len(graded), caption), "caption": caption})
    return {"facts": facts, "plots": drawn, "missed": missed}


def _ratio(row: Row) -> tuple[float, float, float]:
    speed = row.speed or {}
    ratio = float(speed["whole_ratio"])
    return ratio, min(ratio, float(speed.get("low", ratio))), max(ratio, float(speed.get("high", ratio)))


def _missed(rows: list[Row]) -> list[dict[str, Any]]:
    """Checks that failed or were not reached, most often first, and the status that they usually had."""
    total: Counter[str] = Counter()
    bad: dict[str, Counter[str]] = {}
    for row in rows:
        for name, status, _, _ in row.checks:
            total[name] += 1
            if status not in (Status.PASSED, *PENDING):
                bad.setdefault(name, Counter())[status] += 1
    order = sorted(bad, key=lambda name: (-bad[name].total(), name))[:MOST_CHECKS]
    return [
        {"name": n, "missed": bad[n].total(), "of": total[n], "usual": bad[n].most_common(1)[0][0]}
        for n in order
    ]


def _row(row: Row) -> str:
    """A row of the long table: by hand, since a template takes ten times as long for ten thousand."""
    kind = outcome(row.status)
    ratio = (row.speed or {}).get("whole_ratio")
    speed = f"{ratio:.2f}" if ratio else ""
    note = escape(" ".join([*row.notes, row.first if row.state != "graded" else ""]))
    link = f"../students/{slug(row.student)}/{row.lesson}/report.html"
    return (
        f'<tr><td><a href="{escape(link)}">{escape(row.student)}</a></td><td>{escape(row.name)}</td>'
        f"<td>{escape(row.section)}</td><td>{escape(row.lesson[:2])}</td><td>{row.state}</td>"
        f'<td class="{kind}">{row.status}</td><td class="n">{row.points}</td>'
        f'<td class="n">{row.max_points}</td><td class="n">{row.open or ""}</td>'
        f'<td class="n">{speed}</td><td>{note}</td></tr>'
    )
