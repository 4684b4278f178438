"""A report for one student in Markdown: for a mail, a pull request, or a feedback file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.domain import speed as speeds
from grader.domain.speed import Measured
from grader.domain.verdict import Status
from grader.reports.formats import StudentFormat
from grader.reports.wording import feedback, waiting_for

if TYPE_CHECKING:
    from grader.reports.row import StudentResult


def text(result: StudentResult) -> str:
    """Points, a table of the checks, and what to do about the first that failed."""
    row, verdict = result.row, result.verdict
    name = f"{_cell(row.name)} ({_cell(row.student)})" if row.name else _cell(row.student)
    said = f", {row.status}." if row.state == "graded" else ""
    standing = row.standing.removesuffix(".") if said else row.standing
    parts = [f"# {row.lesson}: {name}", "", f"**{_cell(standing)}**{said}"]
    if row.open:
        parts.append(f"{row.open} more points wait for {waiting_for(row.statuses)}.")
    if row.remarks:
        parts += ["", *(f"- {_cell(note)}" for note in row.remarks)]
    if isinstance(verdict.speed, Measured) and not verdict.speed.claimed:
        parts += ["", _cell(verdict.speed.why)]
    elif found := speeds.claimed(verdict.speed):
        ratio = f"{found.whole_ratio:.2f} times as fast as the framework"
        parts += ["", f"Speed: {ratio}, {speeds.kind_of(found)} for {_cell(found.device)}."]
    parts += ["", "| check | points | result |", "|---|---:|---|"]
    for finding in verdict.findings:
        parts.append(
            f"| {_cell(finding.id)} | {finding.points}/{finding.max_points} | {_mark(finding.status)} |"
        )
    if failed := verdict.failed:
        parts += ["", f"## First: {_cell(failed[0].id)}", "", *_quoted(feedback(failed[0]))]
        if len(failed) > 1:
            parts += ["", f"{len(failed) - 1} more failed; fix this one first."]
    return "\n".join(parts) + "\n"


def _mark(status: Status) -> str:
    if machine := waiting_for([status]):
        return f"waits for {machine}"
    return "not run" if status is Status.NOT_RUN else str(status)


def _quoted(text: str) -> list[str]:
    """Text of a submission as it is, in a block that no line of it can end."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *text.splitlines(), fence]


def _cell(text: object) -> str:
    """Text from outside, harmless in Markdown and in the HTML that is made of it."""
    flat = re.sub(r"\s+", " ", str(text))
    return re.sub(r"([\\`*_{}\[\]<>|#!&])", r"\\\1", flat)


FORMATS = (
    StudentFormat(
        name="markdown",
        file="report.md",
        help="For a mail, a pull request or a feedback file.",
        write=text,
        always=True,
    ),
)
