"""What each platform accepts, as JSON Schemas after its published documentation (links below).

Classroom 50 publishes a schema: github.com/foundation50/classroom50, ``schemas/result-v1.schema.json``;
the same constraints are written here. Gradescope: gradescope-autograders.readthedocs.io,
"Autograder Output Format". PrairieLearn: docs.prairielearn.com, "External grading results". Exercism:
exercism.org/docs/building/tooling/test-runners/interface, version 3.
"""

from __future__ import annotations

from typing import Any

TEXT: dict[str, Any] = {"type": "string"}
WORD: dict[str, Any] = {"type": "string", "minLength": 1}
COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
NUMBER: dict[str, Any] = {"type": "number"}
VISIBLE = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}
FORM = {"enum": ["text", "html", "simple_format", "md", "ansi"]}
MOMENT = {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$"}


def closed(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "type": "object", "properties": properties, "required": required, "additionalProperties": False,
    }  # fmt: skip


GRADESCOPE = closed(
    {
        "score": NUMBER, "execution_time": NUMBER, "output": TEXT, "output_format": FORM,
        "test_output_format": FORM, "test_name_format": FORM, "visibility": VISIBLE,
        "stdout_visibility": VISIBLE, "extra_data": {"type": "object"},
        "tests": {
            "type": "array",
            "items": closed(
                {
                    "score": NUMBER, "max_score": NUMBER, "status": {"enum": ["passed", "failed"]},
                    "name": TEXT, "name_format": FORM, "number": TEXT, "output": TEXT,
                    "output_format": FORM, "tags": {"type": "array", "items": TEXT}, "visibility": VISIBLE,
                    "extra_data": {"type": "object"},
                },
                ["name"],
            ),
        },
        "leaderboard": {
            "type": "array",
            "items": closed(
                {"name": TEXT, "value": {}, "order": {"enum": ["asc", "desc"]}}, ["name", "value"]
            ),
        },
    },
    ["tests"],
)  # fmt: skip

CLASSROOM50 = closed(
    {
        "schema": {"const": "classroom50/result/v1"}, "classroom": WORD, "assignment": WORD,
        "assignment_type": {"enum": ["individual", "group"]}, "owner": WORD,
        "submission": {"type": "string", "pattern": "^submit/"}, "commit": WORD, "release": WORD,
        "review": WORD, "datetime": MOMENT, "graded_at": MOMENT, "score": COUNT, "max-score": COUNT,
        "tests": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "test-name": WORD, "passed": {"type": "boolean"}, "score": COUNT, "max-score": COUNT,
                },
                "required": ["test-name", "passed", "score", "max-score"],
            },
        },
        "submitted_by": closed({"username": WORD, "id": {"type": ["integer", "null"]}}, ["username"]),
    },
    [
        "schema", "classroom", "assignment", "assignment_type", "owner", "submission", "commit", "release",
        "review", "datetime", "score", "max-score", "tests",
    ],
)  # fmt: skip

PRAIRIELEARN = closed(
    {
        "gradable": {"type": "boolean"}, "score": {"type": "number", "minimum": 0, "maximum": 1},
        "message": TEXT, "output": TEXT, "format_errors": {"type": "array", "items": TEXT},
        "images": {"type": "array"},
        "tests": {
            "type": "array",
            "items": closed(
                {
                    "name": TEXT, "description": TEXT, "points": NUMBER, "max_points": NUMBER,
                    "message": TEXT, "output": TEXT, "images": {"type": "array"},
                },
                ["name", "points", "max_points"],
            ),
        },
    },
    ["gradable", "score"],
)  # fmt: skip

EXERCISM = {
    "type": "object",
    "properties": {
        "version": {"const": 3}, "status": {"enum": ["pass", "fail", "error"]},
        "message": {"type": "string", "maxLength": 65_535},
        "tests": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": WORD, "status": {"enum": ["pass", "fail", "error"]},
                    "message": {"type": ["string", "null"], "maxLength": 65_535},
                    "output": {"type": ["string", "null"], "maxLength": 500}, "test_code": TEXT,
                    "task_id": {"type": "integer", "minimum": 1},
                },
                "required": ["name", "status"],
            },
        },
    },
    "required": ["version", "status", "tests"],
    "if": {"properties": {"status": {"const": "error"}}},
    "then": {"required": ["message"]},
}  # fmt: skip

SCHEMAS: dict[str, dict[str, Any]] = {
    "gradescope": GRADESCOPE, "classroom50": CLASSROOM50, "prairielearn": PRAIRIELEARN, "exercism": EXERCISM,
}  # fmt: skip
