"""The class as JUnit XML (the form that pytest writes): a suite a row, a test case a check."""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.sax.saxutils import quoteattr

from grader.batch.row import Class, Row
from grader.report.words import outcome

NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def text(result: Class) -> str:
    """The file. Points are properties of test cases and of the suite; what waits for a GPU is skipped."""
    parts = ['<?xml version="1.0" encoding="utf-8"?>', f"<testsuites name={_quoted(result.title)}>"]
    for row in result.rows:
        parts += _suite(row, result.created)
    return "\n".join([*parts, "</testsuites>", ""])


def _suite(row: Row, created: str) -> list[str]:
    kinds = [outcome(check[1]) for check in row.checks]
    head = {
        "name": f"{row.lesson}.{row.student}", "tests": len(kinds), "failures": kinds.count("failed"),
        "errors": kinds.count("error"), "skipped": kinds.count("pending"), "time": f"{row.seconds:.3f}",
        "timestamp": created.removesuffix("Z"), "hostname": row.device or "none",
    }  # fmt: skip
    out = [f"<testsuite {_attributes(head)}>", "<properties>"]
    facts = {
        "lesson": row.lesson, "student": row.student, "state": row.state, "status": row.status,
        "points": row.points, "max_points": row.max_points, "earned": row.earned, "penalty": row.penalty,
        "open_points": row.open,
    }  # fmt: skip
    out += [f"<property {_attributes({'name': k, 'value': v})}/>" for k, v in facts.items()]
    out += [f"<property {_attributes({'name': 'note', 'value': note})}/>" for note in row.notes]
    out.append("</properties>")
    for (name, status, points, most), kind in zip(row.checks, kinds, strict=True):
        case = {"classname": row.student, "name": name, "time": "0.000"}
        out.append(f"<testcase {_attributes(case)}>")
        out.append(
            f'<properties><property name="points" value="{points}"/>'
            f'<property name="max_points" value="{most}"/></properties>'
        )
        why = row.first if row.first.startswith(f"{name}:") else status
        if kind == "pending":
            out.append(f"<skipped {_attributes({'type': status, 'message': why})}/>")
        elif kind != "passed":
            tag = "error" if kind == "error" else "failure"
            out.append(f"<{tag} {_attributes({'type': status, 'message': why})}/>")
        out.append("</testcase>")
    return [*out, "</testsuite>"]


def _attributes(values: Mapping[str, object]) -> str:
    return " ".join(f"{name}={_quoted(value)}" for name, value in values.items())


def _quoted(value: object) -> str:
    return quoteattr(NO_XML.sub("?", str(value)), {"\n": "&#10;"})
