"""Calls with plain values, whose answers follow from a law that the referee knows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.domain.part import Check
from grader.domain.verdict import Finding, Status
from grader.feedback import how_far
from grader.referee.fault import FaultError
from grader.referee.parts.part_session import PartSession

if TYPE_CHECKING:
    import numpy as np

DRAWN = 8


@dataclass(frozen=True, slots=True)
class Calls:
    """``entry(*args)`` must be ``answer(*args)``, for the ``args`` listed and those that ``draw`` draws."""

    name: str
    entry: str
    args: tuple[tuple[Any, ...], ...]
    answer: Callable[..., object]
    points: int
    why: str
    draw: Callable[[np.random.Generator], tuple[Any, ...]] | None = None

    @property
    def checks(self) -> tuple[Check, ...]:
        """One check."""
        return (Check(self.name, self.points, self.why),)

    def judge(self, room: PartSession) -> Iterator[Finding]:
        """All calls must be right; the first that is not is named."""
        (check,) = self.checks
        calls = list(self.args)
        if self.draw:
            calls += [self.draw(room.rng) for _ in range(DRAWN)]
        try:
            for args in calls:
                said = room.act("plain", entry=self.entry, args=list(args)).get("value")
                right = self.answer(*args)
                if not equal(said, right):
                    call = f"{self.entry}({', '.join(map(str, args))})"
                    line = room.line_of(self.entry, result=True)
                    how = how_far.by(said, right) if isinstance(right, (int, float)) else ""
                    message = f"Line {line}: {call}" if line else call
                    message += f" is {str(said)[:100]}, expected {right}.{how} {self.why}"
                    yield check.failed(
                        Status.WRONG_ANSWER, message, args=list(args), got=str(said)[:100], line=line
                    )
                    return
            yield check.passed()
        except FaultError as fault:
            yield room.fallen(check, fault)


@dataclass(frozen=True, slots=True)
class Text:
    """``entry()`` must return a text of which ``lacks`` says nothing; otherwise it says what to mend."""

    name: str
    entry: str
    lacks: Callable[[str], str]
    points: int
    why: str

    @property
    def checks(self) -> tuple[Check, ...]:
        """One check."""
        return (Check(self.name, self.points, self.why),)

    def judge(self, room: PartSession) -> Iterator[Finding]:
        """One call."""
        (check,) = self.checks
        try:
            said = room.act("plain", entry=self.entry, args=[]).get("value")
        except FaultError as fault:
            yield room.fallen(check, fault)
            return
        if not isinstance(said, str):
            line = room.line_of(self.entry, result=True)
            at = f"Line {line}: " if line else ""
            lacking = f"{at}{self.entry}() returns {str(said)[:100]}, not a text."
        else:
            lacking = self.lacks(said)
        if lacking:
            message = f"{lacking} {self.why}"
            yield check.failed(Status.WRONG_ANSWER, message, got=str(said)[:300])
        else:
            yield check.passed()


def equal(said: object, right: object) -> bool:
    """Whether a claim is the answer: numbers to twelve digits, all else exactly."""
    if isinstance(right, (int, float)) and not isinstance(right, bool):
        number = isinstance(said, (int, float)) and not isinstance(said, bool)
        return number and math.isclose(float(str(said)), right, rel_tol=1e-12, abs_tol=1e-12)
    return type(said) is type(right) and said == right
