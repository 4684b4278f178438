"""The class as JUnit XML (the form that pytest writes): a suite a row, a test case a check."""

from __future__ import annotations

import functools
import re
from html import escape
from typing import TYPE_CHECKING

from grader.reports.formats import ClassFormat
from grader.reports.wording import outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.reports.row import Check, Class, Row

LINE_ENDS = {ord(sign): f"&#{ord(sign)};" for sign in "\t\n\r"}  # which a reader of XML makes spaces of
NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
ELEMENT = {"pending": "skipped", "error": "error", "failed": "failure"}


def text(result: Class) -> str:
    """The file. Points are properties of test cases and of the suite; what waits is skipped.

    Its few elements are written by hand: a tree of a term's quarter of a million checks takes a minute.
    """
    head = f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites name={_value(result.title)}>'
    stamp = _value(result.created.removesuffix("Z"))
    return "\n".join([head, *(_suite(row, stamp) for row in result.rows), "</testsuites>", ""])


def _suite(row: Row, stamp: str) -> str:
    kinds = [outcome(check.status) for check in row.checks]
    facts: dict[str, str | int] = {
        "lesson": row.lesson, "student": row.student, "state": row.state, "status": row.status,
        "points": "" if row.shown is None else row.points,
        "max_points": row.max_points, "earned": row.earned, "penalty": row.penalty,
        "open_points": row.open,
    }  # fmt: skip
    return (
        f'<testsuite name={_value(f"{row.lesson}.{row.student}")} tests="{len(kinds)}" '
        f'skipped="{kinds.count("pending")}" failures="{kinds.count("failed")}" '
        f'errors="{kinds.count("error")}" time="{round(row.seconds, 3)}" timestamp={stamp} '
        f"hostname={_value(row.device or 'none')}>"
        + _properties([*facts.items(), *(("note", note) for note in row.remarks)])
        + "".join([_case(row, check, kind) for check, kind in zip(row.checks, kinds, strict=True)])
        + "</testsuite>"
    )


def _case(row: Row, check: Check, kind: str) -> str:
    why = ""
    if kind != "passed":
        said = row.first if row.first.startswith(f"{check.id}:") else str(check.status)
        why = f"<{ELEMENT[kind]} message={_value(said)} type={_value(str(check.status))} />"
    return (
        f'<testcase name={_value(check.id)} classname={_value(row.student)} time="0.0">'
        f"{_properties([('points', check.points), ('max_points', check.max_points)])}{why}</testcase>"
    )


def _properties(values: Iterable[tuple[str, str | int]]) -> str:
    each = "".join([f'<property name="{name}" value={_value(str(value))} />' for name, value in values])
    return f"<properties>{each}</properties>"


@functools.lru_cache(4096)  # names of checks and statuses come again in every row
def _value(text: str) -> str:
    """An attribute's value in its quotes, without characters that XML cannot hold."""
    return f'"{escape(NOT_XML.sub("?", text)).translate(LINE_ENDS)}"'


FORMATS = (
    ClassFormat(
        name="junit",
        file="junit.xml",
        help="JUnit XML, a suite a student, for CI systems.",
        write=text,
        always=True,
    ),
)
