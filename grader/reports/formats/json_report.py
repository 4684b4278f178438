"""A verdict and a class as JSON, in their published forms (``grader/domain/schema/``)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from grader.reports.formats import ClassFormat, StudentFormat

if TYPE_CHECKING:
    from grader.reports.row import Class, StudentResult


def of_verdict(result: StudentResult) -> str:
    """The verdict; ValueError for a number that JSON does not have."""
    return json.dumps(result.verdict.as_json(), indent=2, allow_nan=False) + "\n"


def of_rows(result: Class) -> str:
    """The class, a line a row: it is read by programs, and compared by people with diff."""
    import msgspec

    facts = {
        "schema": result.schema, "grader": result.grader, "title": result.title, "created": result.created,
        "facts": result.facts, "lessons": msgspec.to_builtins(result.lessons),
    }  # fmt: skip
    head = json.dumps(facts, indent=1, allow_nan=False)
    rows = ",\n".join(json.dumps(msgspec.to_builtins(row), allow_nan=False) for row in result.rows)
    files = ",\n".join(json.dumps(msgspec.to_builtins(file), allow_nan=False) for file in result.files)
    return f'{head[:-2]},\n "rows": [\n{rows}\n ],\n "files": [\n{files}\n ]\n}}\n'


FORMATS = (
    StudentFormat(
        name="json",
        file="verdict.json",
        help="The whole verdict, in a published schema (verdict.v1.json).",
        write=of_verdict,
        always=True,
    ),
    ClassFormat(
        name="json",
        file="class.json",
        help="Every row, in a published schema (class.v1.json).",
        write=of_rows,
        always=True,
    ),
)
