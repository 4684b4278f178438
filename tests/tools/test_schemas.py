"""The published schemas say what is written: every status, every field, nothing else."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any, get_args

import jsonschema
import pytest

from grader.domain.lessons import course_root
from grader.domain.verdict import Status
from grader.reports.row import Row, State
from tools import schemas

PUBLISHED = {path.name: json.loads(path.read_text("utf-8")) for path in schemas.files(course_root())}

# As version 0.1.0 wrote it: what was valid once stays valid.
ROW: dict[str, Any] = {
    "student": "ann", "lesson": "03_square_kernel", "state": "graded", "status": "passed", "points": 18,
    "earned": 20, "max_points": 20, "penalty": 2, "open": 0, "name": "Ann", "email": "", "section": "A",
    "checks": [{"id": "load", "status": "passed", "points": 0, "max_points": 0}], "first": "",
    "notes": ["Late by 1 d."], "late": 86400.0, "seconds": 2, "backend": "simt", "device": "a CPU",
    "speed": {"kind": "predicted", "device": "a card", "whole_ratio": 1.1}, "key": "k", "file": "ann.py",
    "nick": "",
}  # fmt: skip
CLASS: dict[str, Any] = {
    "schema": "inline-to-fused/class/v1", "grader": "0.1.0", "title": "submissions",
    "created": "2026-11-20T10:00:00Z", "facts": {"devices": "a CPU", "waiting": "0"},
    "lessons": [{"name": "03_square_kernel", "title": "A kernel", "max_points": 20}], "rows": [ROW],
}  # fmt: skip


def test_the_files_are_those_that_the_types_make() -> None:
    for path, text in schemas.files(course_root()).items():
        assert path.read_text("utf-8") == text, f"{path.name}: run course dev generate"
        jsonschema.Draft202012Validator.check_schema(json.loads(text))


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_schema_knows_every_status_and_no_other(name: str) -> None:
    assert PUBLISHED[name]["$defs"]["status"]["enum"] == [str(status) for status in Status]


def test_a_class_of_the_first_version_is_valid() -> None:
    jsonschema.validate(CLASS, PUBLISHED["class.v1.json"])
    part = PUBLISHED["class.v1.json"]["$defs"]["row"]
    assert set(part["properties"]) == {field.name for field in fields(Row)}
    assert set(part["required"]) == set(ROW)
    assert set(part["properties"]["state"]["enum"]) == set(get_args(State))


@pytest.mark.parametrize(
    "change",
    [
        {"status": "unheard_of"}, {"state": "lost"}, {"points": -1}, {"points": "18"}, {"extra": 1},
        {"speed": {"kind": "none", "why": "x"}}, {"speed": {"kind": "measured", "device": "x"}},
        {"backend": "tpu"}, {"late": -1.0}, {"notes": "Late."},
        {"checks": [{"id": "load", "status": "fine", "points": 0, "max_points": 0}]},
    ],
)  # fmt: skip
def test_a_row_that_is_not_as_we_write_it_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(CLASS | {"rows": [ROW | change]}, PUBLISHED["class.v1.json"])
    for name in ROW:
        with pytest.raises(jsonschema.ValidationError):
            less = {key: value for key, value in ROW.items() if key != name}
            jsonschema.validate(CLASS | {"rows": [less]}, PUBLISHED["class.v1.json"])
