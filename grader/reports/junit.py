"""The class as JUnit XML (the form that pytest writes): a suite a row, a test case a check."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from xml.sax.saxutils import quoteattr

from grader.reports.row import Class, Row
from grader.reports.words import outcome

NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def text(result: Class) -> str:
    """The file. Points are properties of test cases and of the suite; what waits for a GPU is skipped."""
    head = ['<?xml version="1.0" encoding="utf-8"?>', f"<testsuites name={_quoted(result.title)}>"]
    return "\n".join([*head, *(_suite(row, result.created) for row in result.rows), "</testsuites>", ""])


def _suite(row: Row, created: str) -> str:
    kinds = [outcome(check[1]) for check in row.checks]
    head = {
        "name": f"{row.lesson}.{row.student}", "tests": len(kinds), "failures": kinds.count("failed"),
        "errors": kinds.count("error"), "skipped": kinds.count("pending"), "time": f"{row.seconds:.3f}",
        "timestamp": created.removesuffix("Z"), "hostname": row.device or "none",
    }  # fmt: skip
    facts = {
        "lesson": row.lesson, "student": row.student, "state": row.state, "status": row.status,
        "points": row.points, "max_points": row.max_points, "earned": row.earned, "penalty": row.penalty,
        "open_points": row.open,
    }  # fmt: skip
    out = [f"<testsuite {_attributes(head)}>", "<properties>"]
    out += [f'<property name="{name}" value={_quoted(value)}/>' for name, value in facts.items()]
    out += [f'<property name="note" value={_quoted(note)}/>' for note in row.notes]
    out.append("</properties>")
    who = _quoted(row.student)
    for (name, status, points, most), kind in zip(row.checks, kinds, strict=True):
        out.append(
            f'<testcase classname={who} name={_quoted(name)} time="0.000"><properties>'
            f'<property name="points" value="{points}"/>'
            f'<property name="max_points" value="{most}"/></properties>'
        )
        if kind != "passed":
            why = row.first if row.first.startswith(f"{name}:") else status
            tag = {"pending": "skipped", "error": "error"}.get(kind, "failure")
            out.append(f'<{tag} type="{status}" message={_quoted(why)}/>')
        out.append("</testcase>")
    return "\n".join([*out, "</testsuite>"])


def _attributes(values: Mapping[str, object]) -> str:
    return " ".join(f"{name}={_quoted(value)}" for name, value in values.items())


def _quoted(value: object) -> str:
    return _escaped(str(value))


@functools.lru_cache(4096)  # names of checks and statuses come again in every row
def _escaped(text: str) -> str:
    return quoteattr(NO_XML.sub("?", text), {"\n": "&#10;"})
