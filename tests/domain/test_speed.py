"""A verdict's speed: the JSON is what it was, whatever older verdicts lack, and nothing else is read."""

from __future__ import annotations

import json

import jsonschema
import pytest

from grader.domain import speed
from grader.domain.lessons import course_root
from grader.domain.speed import Measured, Predicted
from grader.domain.verdict import Verdict
from tests.speeds import MEASURED, PREDICTED, measured, none, predicted

RESULTS = course_root() / "benchmarks" / "results"


@pytest.mark.parametrize("data", [MEASURED, PREDICTED, {"kind": "none", "why": "it fell"}])
def test_the_json_is_read_and_written_as_it_was(data: dict[str, object]) -> None:
    found = speed.from_json(data)
    assert found is not None and speed.as_json(found) == data and list(speed.as_json(found)) == list(data)


@pytest.mark.parametrize("name", ["solution_07.json", "lesson07.json", "solutions_cuda.json"])
def test_what_was_measured_once_is_read_and_written_as_it_was(name: str) -> None:
    seen = 0

    def look(value: object) -> None:
        nonlocal seen
        if isinstance(value, dict) and "method" in value and value.get("kind") in ("measured", "predicted"):
            found = speed.from_json(value)
            assert found is not None and speed.as_json(found) == value
            seen += 1
        elif isinstance(value, dict | list):
            for inner in value.values() if isinstance(value, dict) else value:
                look(inner)

    look(json.loads((RESULTS / name).read_text("utf-8")))
    assert seen


def test_what_older_verdicts_lack_has_a_default() -> None:
    old = {k: v for k, v in MEASURED.items() if k not in ("processes", "confirmed", "blocks")}
    found = speed.from_json(old)
    assert isinstance(found, Measured) and found.processes is None and speed.as_json(found) == old


@pytest.mark.parametrize(
    "data", [{}, {"kind": "guessed"}, {"kind": "none"}, MEASURED | {"interval": [1.0]}, 3]
)
def test_anything_else_is_a_value_error(data: object) -> None:
    with pytest.raises(ValueError, match="not a verdict's speed"):
        speed.from_json(data)


def test_a_verdict_keeps_its_speed() -> None:
    for one in (measured(why="they differ"), predicted(), none(), None):
        verdict = Verdict("07", "a.py", "cuda", "a GPU", (), 1.0, speed=one)
        assert Verdict.from_json(json.loads(json.dumps(verdict.as_json()))).speed == one


def test_only_a_ratio_that_is_claimed_counts() -> None:
    assert speed.claimed(none()) is speed.claimed(None) is speed.claimed(measured(why="they differ")) is None
    assert isinstance(speed.claimed(measured()), Measured) and isinstance(
        speed.claimed(predicted()), Predicted
    )


@pytest.mark.parametrize("speed_json", [MEASURED, PREDICTED, {"kind": "none", "why": "too small."}])
def test_each_kind_of_speed_is_in_the_published_schema(speed_json: dict[str, object]) -> None:
    """A race's blocks are in it, too, and among them those of calls that follow each other."""
    schema = json.loads((course_root() / "grader/domain/schema/verdict.v1.json").read_text())
    part = {"$defs": schema["$defs"], **schema["properties"]["speed"]}
    found = jsonschema.Draft202012Validator(part).iter_errors(speed.as_json(speed.from_json(speed_json)))
    assert [error.message for error in found] == []
