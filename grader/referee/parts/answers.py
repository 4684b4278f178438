"""Calls with plain values, whose answers follow from a law that the referee knows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.domain.part import Check
from grader.domain.verdict import Finding, Status
from grader.feedback import how_far
from grader.feedback.look import python_source
from grader.referee.fault import FaultError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np

    from grader.referee.parts.part_session import PartSession

DRAWN = 8


@dataclass(frozen=True, slots=True)
class PlainCalls:
    """``entry(*args)`` must be ``answer(*args)``, for the ``args`` listed and those that ``draw`` draws.

    ``rounded_up``: it is so many that nothing is left over; then one too few or too many says how to round.
    ``whole``: an answer like 4.0, or a list with one, is none: what is counted here is handed to ``range``.
    ``because``: why that is the answer, for these arguments; ``why`` where it is None.
    """

    name: str
    entry: str
    args: tuple[tuple[Any, ...], ...]
    answer: Callable[..., object]
    points: int
    why: str
    draw: Callable[[np.random.Generator], tuple[Any, ...]] | None = None
    because: Callable[..., str] | None = None
    rounded_up: bool = True
    whole: bool = False

    @property
    def checks(self) -> tuple[Check, ...]:
        """One check."""
        return (Check(self.name, self.points, self.why),)

    def judge(self, session: PartSession) -> Iterator[Finding]:
        """All calls must be right; the first that is not is named."""
        (check,) = self.checks
        calls = list(self.args)
        if self.draw:
            calls += [self.draw(session.rng) for _ in range(DRAWN)]
        try:
            for args in calls:
                claimed = session.command("plain", entry=self.entry, args=list(args)).get("value")
                right = self.answer(*args)
                if not equal(claimed, right) or (self.whole and _has_floats(claimed)):
                    call = f"{self.entry}({', '.join(map(repr, args))})"
                    key = args[0] if args else None
                    entry = python_source.line_of_entry(session.grading.source, self.entry, key)
                    taken = self._taken(session, args)
                    how = (
                        how_far.by(claimed, right, rounded_up=self.rounded_up)
                        if isinstance(right, (int, float)) and not isinstance(right, bool)
                        else how_far.form(claimed, right)
                    )
                    # What is of another kind is wrong where it is handed back; else it may be the condition.
                    at = (taken, entry) if how_far.kind_differs(claimed, right) else (entry, taken)
                    line = at[0] or at[1] or session.line_of(self.entry, result=True)
                    message = f"Line {line}: {call}" if line else call
                    why = self.because(*args) if self.because else self.why
                    message += (
                        f" is {how_far.shown(claimed)[:100]}, expected {how_far.shown(right)}.{how} {why}"
                    )
                    yield check.failed(
                        Status.WRONG_ANSWER,
                        message,
                        args=list(args),
                        got=str(claimed)[:100],
                        line=line,
                        advice=how,
                        known=bool(entry),  # the entry of the table is the answer
                    )
                    return
            yield check.passed()
        except FaultError as fault:
            yield session.fallen(check, fault)

    def _taken(self, session: PartSession, args: tuple[Any, ...]) -> int:
        """The line of the `return` that this call takes; 0 if the player names none of the function's."""
        returns = python_source.returns_of(session.grading.source, self.entry)
        if len(returns) < 2:
            return returns[0] if returns else 0
        line = session.command("plain", entry=self.entry, args=list(args), traced=True).get("line")
        return line if isinstance(line, int) and line in returns else 0


@dataclass(frozen=True, slots=True)
class TextAnswer:
    """``entry()`` must return a text of which ``lacks`` says nothing; otherwise it says what to fix."""

    name: str
    entry: str
    lacks: Callable[[str], str]
    points: int
    why: str

    @property
    def checks(self) -> tuple[Check, ...]:
        """One check."""
        return (Check(self.name, self.points, self.why),)

    def judge(self, session: PartSession) -> Iterator[Finding]:
        """One call."""
        (check,) = self.checks
        try:
            claimed = session.command("plain", entry=self.entry, args=[]).get("value")
        except FaultError as fault:
            yield session.fallen(check, fault)
            return
        if not isinstance(claimed, str):
            number = session.line_of(self.entry, result=True)
            at = f"Line {number}: " if number else ""
            lacking = f"{at}{self.entry}() returns {str(claimed)[:100]}, not a text."
        else:
            lacking = self.lacks(claimed)
        if lacking:
            line = session.line_of(self.entry, result=True) if isinstance(claimed, str) else 0
            message = f"Line {line}: {lacking} {self.why}" if line else f"{lacking} {self.why}"
            yield check.failed(Status.WRONG_ANSWER, message, got=str(claimed)[:300], known=bool(line))
        else:
            yield check.passed()


def _has_floats(claimed: object) -> bool:
    return any(isinstance(one, float) for one in (claimed if isinstance(claimed, list) else [claimed]))


def equal(claimed: object, right: object) -> bool:
    """Whether a claim is the answer: numbers to twelve digits, all else exactly."""
    if isinstance(right, (int, float)) and not isinstance(right, bool):
        number = isinstance(claimed, (int, float)) and not isinstance(claimed, bool)
        return number and math.isclose(float(str(claimed)), right, rel_tol=1e-12, abs_tol=1e-12)
    return type(claimed) is type(right) and claimed == right
