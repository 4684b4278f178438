"""HTML from templates: one student's page. Everything from outside is escaped."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from grader.domain import packages
from grader.domain.errors import BadInputError
from grader.domain.speed import Measured, NoSpeed
from grader.domain.verdict import SENTENCE, Status, Verdict
from grader.reports.row import Row, row_of
from grader.reports.words import outcome, said

TEMPLATES = Path(__file__).parent / "templates"


@functools.cache
def environment() -> Any:
    """Jinja, strict about names and escaping everything."""
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    made.globals["style"] = (TEMPLATES / "style.css").read_text("utf-8")
    made.filters["outcome"] = outcome
    return made


def text(row: Row, verdict: Verdict, profile: bool = False) -> str:
    """The page of one student for one lesson: points, every check with its message, speed.

    ``profile``: there is a folder of that name beside the page, with a roofline and a trace.
    """
    checks = [
        {"finding": f, "said": said(f), "open": not f.ok and f.status is not Status.NOT_RUN}
        for f in verdict.findings
    ]
    shown: str = (
        environment()
        .get_template("student.html")
        .render(
            row=row, verdict=verdict, checks=checks, sentence=SENTENCE[verdict.status], profile=profile,
            speed=None if isinstance(verdict.speed, NoSpeed) else verdict.speed,
            measured=isinstance(verdict.speed, Measured),
        )
    )  # fmt: skip
    return shown


def write(verdict: Verdict, path: Path) -> None:
    """The page of one verdict alone, at ``path``. BadInputError if it cannot be written."""
    packages.require("A page", "jinja2")
    try:
        path.write_text(text(row_of(verdict, verdict.submission), verdict), "utf-8")
    except OSError as error:
        raise BadInputError(f"{path} cannot be written: {error.strerror}.") from error
