"""What rests on a GPU's clock says so, and is judged while nobody else uses that GPU."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from grader.domain import lessons
from grader.domain.part import Check
from grader.referee import parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding


@dataclass(frozen=True)
class Asked:
    """A part that writes down when it is judged."""

    clock: bool
    order: list[str]

    @property
    def checks(self) -> tuple[Check, ...]:
        """One."""
        return (Check("asked", 1, "", clock=self.clock),)

    def judge(self, _session: object) -> Iterator[Finding]:
        """When it is asked."""
        self.order.append("judged")
        yield self.checks[0].passed()


@pytest.mark.parametrize(("clock", "wanted"), [(True, ["alone", "judged", "over"]), (False, ["judged"])])
def test_a_part_that_reads_the_clock_is_judged_alone(clock: bool, wanted: list[str]) -> None:
    order: list[str] = []

    @contextlib.contextmanager
    def alone() -> Iterator[None]:
        order.append("alone")
        yield
        order.append("over")

    session = SimpleNamespace(on_cpu=None, clock=alone, player=None, task=None)
    parts.judge(Asked(clock, order), session, loaded=True)  # type: ignore[arg-type]
    assert order == wanted


@pytest.mark.parametrize("number", ["04", "13"])
def test_lessons_whose_checks_read_the_clock_say_so(number: str) -> None:
    assert any(check.clock for part in lessons.find(number).task.parts for check in part.checks)
