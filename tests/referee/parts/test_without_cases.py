"""A search for the cause of a failure asks for some checks alone, maybe for no case: no part needs one."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from grader.domain.lessons import every
from grader.domain.task import Task
from grader.domain.verdict import Status
from grader.referee.fault import FaultError
from grader.referee.parts import GradedPart, PartSession
from grader.referee.parts.operator import Operator, Property

PARTS = [
    pytest.param(part, id=f"{lesson.name}: {part.checks[0].name}")
    for lesson in every()
    for part in lesson.task.parts
]


def gone(*_asked: object, **_fields: object) -> Any:
    raise FaultError(Status.CRASHED, "it is gone")


def without_cases(command: Callable[..., Any] = gone) -> PartSession:
    """What a part is given for a task without cases; its player answers by ``command``."""
    record = SimpleNamespace(findings=[], memory=[])
    rng = np.random.default_rng(0)
    grading = SimpleNamespace(task=Task("T", "f"), record=record, source="", rng=rng, revive=gone)
    session = SimpleNamespace(
        grading=grading, rng=rng, backend="simt", student="Ada", command=command,
        fallen=lambda check, fault: check.failed(fault.status, fault.message),
        line_of=lambda *_names, **_which: 0, line_of_test=lambda *_which: "",
        calls_in=lambda _name: None, never_fails=lambda _entry: ("", ""),
    )  # fmt: skip
    return cast("PartSession", session)


@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_a_lesson_that_is_asked_for_alone_judges_all_the_same(part: GradedPart) -> None:
    try:
        found = list(part.judge(without_cases()))
    except FaultError:  # of the whole part, which parts.judge() makes findings of
        return
    assert [f.id for f in found] == [check.name for check in part.checks]


def test_the_properties_of_an_operator_are_tried_without_a_case() -> None:
    part = Operator("mine", (Property("device", "device", 1, "On the device of x."),))
    (found,) = part.judge(without_cases(lambda *_asked, **_fields: {"wrong": ""}))
    assert found.status is Status.PASSED
