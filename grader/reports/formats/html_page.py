"""One student's page, from a template. Everything from outside is escaped."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.domain import packages
from grader.domain.speed import Measured, NoSpeed
from grader.domain.verdict import SENTENCE, Status
from grader.reports.formats import StudentFormat
from grader.reports.wording import feedback, outcome, waiting_for

if TYPE_CHECKING:
    from grader.domain.verdict import Finding
    from grader.reports.row import StudentResult

TEMPLATES = Path(__file__).parents[1] / "templates"


@functools.cache
def environment() -> Any:
    """Jinja, strict about names and escaping everything."""
    packages.require("A page", "jinja2")
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    made.globals["style"] = (TEMPLATES / "style.css").read_text("utf-8")
    made.filters["outcome"] = outcome
    return made


def _told(finding: Finding) -> dict[str, Any] | None:
    """The student's own line that an explanation is about, and the lesson to read; None without one."""
    told = finding.evidence.get("explanation")
    if finding.ok or not isinstance(told, dict):
        return None
    return {word: told.get(word) or "" for word in ("line", "code", "lesson")}


def text(result: StudentResult) -> str:
    """The page of one student for one lesson: points, every check with its message, speed."""
    row, verdict = result.row, result.verdict
    checks = [
        {
            "finding": f,
            "feedback": feedback(f),
            "open": not f.ok and f.status is not Status.NOT_RUN,
            "told": _told(f),
        }
        for f in verdict.findings
    ]
    told = any((_told(f) or {}).get("lesson") for f in verdict.findings)
    to_read = row.lesson[:2] if row.key and not verdict.ok and not told and row.lesson[:2].isdigit() else ""
    shown: str = (
        environment()
        .get_template("student.html")
        .render(
            row=row, verdict=verdict, checks=checks, sentence=SENTENCE[verdict.status],
            to_read=to_read, profile=result.profile, replay=result.replay,
            waiting_for=waiting_for(row.statuses),
            speed=None if isinstance(verdict.speed, NoSpeed) else verdict.speed,
            measured=isinstance(verdict.speed, Measured),
        )
    )  # fmt: skip
    return shown


FORMATS = (
    StudentFormat(
        name="html", file="report.html", help="A page that opens from the disk.", write=text, always=True
    ),
)
