"""The class as JUnit XML (the form that pytest writes): a suite a row, a test case a check."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from grader.domain import packages
from grader.reports.formats import ClassFormat
from grader.reports.wording import outcome

if TYPE_CHECKING:
    from junitparser import Properties, TestCase, TestSuite

    from grader.reports.row import Check, Class, Row

NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def text(result: Class) -> str:
    """The file. Points are properties of test cases and of the suite; what waits is skipped."""
    packages.require("JUnit XML", "junitparser")
    from junitparser import JUnitXml

    # A suite at a time: ten thousand rows in one tree take a quarter of a gigabyte.
    suites = (_suite(row, result.created).tostring().decode() for row in result.rows)
    head = JUnitXml(_clean(result.title)).tostring().decode().rpartition("/>")[0]
    return "\n".join(['<?xml version="1.0" encoding="utf-8"?>', f"{head}>", *suites, "</testsuites>", ""])


def _suite(row: Row, created: str) -> TestSuite:
    from junitparser import TestSuite

    suite = TestSuite(_clean(f"{row.lesson}.{row.student}"))
    kinds = [outcome(check.status) for check in row.checks]
    suite.tests, suite.skipped = len(kinds), kinds.count("pending")
    suite.failures, suite.errors = kinds.count("failed"), kinds.count("error")
    suite.time, suite.timestamp = round(row.seconds, 3), created.removesuffix("Z")
    suite.hostname = _clean(row.device) or "none"
    facts: dict[str, str | int] = {
        "lesson": row.lesson, "student": row.student, "state": row.state, "status": row.status,
        "points": row.points, "max_points": row.max_points, "earned": row.earned, "penalty": row.penalty,
        "open_points": row.open,
    }  # fmt: skip
    suite.append(_properties([*facts.items(), *(("note", note) for note in row.remarks)]))
    suite.extend([_case(row, check, kind) for check, kind in zip(row.checks, kinds, strict=True)])
    return suite


def _case(row: Row, check: Check, kind: str) -> TestCase:
    from junitparser import Error, Failure, Skipped, TestCase

    case = TestCase(_clean(check.id), _clean(row.student), 0.0)
    case.append(_properties([("points", check.points), ("max_points", check.max_points)]))
    if kind != "passed":
        why = row.first if row.first.startswith(f"{check.id}:") else str(check.status)
        element = {"pending": Skipped, "error": Error}.get(kind, Failure)
        case.append(element(_clean(why), str(check.status)))
    return case


def _properties(values: list[tuple[str, str | int]]) -> Properties:
    from junitparser import Properties, Property

    properties = Properties()
    properties.extend([Property(name, _clean(str(value))) for name, value in values])
    return properties


@functools.lru_cache(4096)  # names of checks and statuses come again in every row
def _clean(text: str) -> str:
    """Without characters that XML cannot hold."""
    return NOT_XML.sub("?", text)


FORMATS = (
    ClassFormat(
        name="junit",
        file="junit.xml",
        help="JUnit XML, a suite a student, for CI systems.",
        write=text,
        always=True,
    ),
)
