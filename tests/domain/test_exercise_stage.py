from __future__ import annotations

import json
from dataclasses import replace

import jsonschema
import pytest

from grader.domain.exercise_stage import Stage, first_open, problems
from grader.domain.lessons import course_root
from grader.domain.verdict import Finding, Status, Verdict

STAGES = (Stage("Naive", 20, ("whole", "odd")), Stage("Shared tile", 25, ("sectors", "memory")))
CHECKS = ("whole", "odd", "memory", "sectors")


@pytest.mark.parametrize(
    ("stages", "minutes", "says"),
    [
        (STAGES, 45, ""),
        ((), 90, ""),
        (STAGES, 60, "take 45 minutes together, the task says 60"),
        ((replace(STAGES[0], minutes=50), STAGES[1]), 75, "'Naive' takes 50 minutes, not 1 to 45"),
        ((replace(STAGES[0], checks=("whole",)), STAGES[1]), 45, "no stage has the checks odd."),
        ((replace(STAGES[0], checks=("whole", "odd", "memory")), STAGES[1]), 45, "belongs to 2 stages"),
        ((replace(STAGES[0], checks=("whole", "odd", "even")), STAGES[1]), 45, "the check 'even'; the task"),
        ((*STAGES, Stage("Rest", 5, ())), 50, "'Rest' has no checks"),
        ((replace(STAGES[0], title="A title that is far too long"), STAGES[1]), 45, ": 28 characters"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_stages_is_said(stages: tuple[Stage, ...], minutes: int, says: str) -> None:
    found = list(problems(stages, CHECKS, minutes))
    assert len(found) == bool(says) and says in " ".join(found)


def verdict(**statuses: Status) -> Verdict:
    findings = tuple(
        Finding(name, status, "what", int(status is Status.PASSED), 1) for name, status in statuses.items()
    )
    return Verdict("12_x", "mine.py", "simt", "a CPU", findings, 1.0, exercise_stages=STAGES)


def test_a_verdict_tells_an_earlier_stage_first() -> None:
    one = verdict(sectors=Status.FAILED, odd=Status.WRONG_OUTPUT, whole=Status.PASSED)
    assert [f.id for f in one.failed] == ["odd", "sectors"] == one.left
    assert first_open(STAGES, one.left) == 0
    assert first_open(STAGES, ["memory"]) == 1
    assert first_open(STAGES, []) is None
    assert first_open((), ["memory"]) is None


def test_the_json_says_which_stages_are_done() -> None:
    schema = json.loads((course_root() / "grader/domain/schema/verdict.v1.json").read_text("utf-8"))
    one = verdict(whole=Status.PASSED, odd=Status.PASSED, memory=Status.PENDING_CPU, sectors=Status.NOT_RUN)
    data = one.as_json()
    jsonschema.validate(data, schema)
    assert [(s["title"], s["done"]) for s in data["exercise_stages"]] == [
        ("Naive", True),
        ("Shared tile", False),
    ]
    assert Verdict.from_json(data).exercise_stages == STAGES
    assert "exercise_stages" not in replace(one, exercise_stages=()).as_json()
