"""Questions about a recorded file. Each student gets their own; the answers are computed from the file.

Those about a trace are here (lesson 05); another file brings its own way to ask (``Quiz.ask``).
"""

from __future__ import annotations

import difflib
import hashlib
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from grader.domain.part import Check
from grader.domain.verdict import Finding, Status
from grader.feedback import how_far
from grader.feedback.look import python_source
from grader.referee.fault import FaultError
from grader.referee.parts import trace_events, trace_mistakes

if TYPE_CHECKING:
    from grader.referee.parts.part_session import PartSession

TOLERANCE = 0.02
ROUNDED = 0.002  # how far off an answer to another question may be to be taken for it
REGIONS = ("eager model", "fused model")


@dataclass(frozen=True, slots=True)
class Asked:
    """One question as this student gets it, and its answer."""

    key: str
    words: str
    unit: str
    answer: float | str
    mistaken: dict[float, str] = field(default_factory=dict)  # answers to another question, and what they are
    look: str = ""  # where to look after a wrong answer, if it is another place than that of the others
    elsewhere: tuple[float, ...] = ()  # the answers to the same question about another place


def questions(path: Path, student: str) -> list[Asked]:
    """The questions for ``student`` about the trace at ``path``; the same name always gets the same."""
    recorded = trace_events.Recorded(trace_events.read(path))
    steps = recorded.steps()
    asked = []
    for question in trace_events.QUESTIONS:
        draw = hashlib.sha256(f"{student.strip().lower()}/{question.key}".encode()).digest()
        step, region = steps[draw[0] % len(steps)], REGIONS[draw[1] % len(REGIONS)]
        words = question.words.format(step=step.name, region=region)
        answer, mistaken = (
            question.answer(recorded, step, region),
            trace_mistakes.mistaken(question.key, recorded, step, region),
        )
        elsewhere = _elsewhere(recorded, question, step, region)
        asked.append(
            Asked(
                question.key, words, question.unit, answer, elsewhere | mistaken, elsewhere=tuple(elsewhere)
            )
        )
    return asked


def _elsewhere(
    recorded: trace_events.Recorded,
    question: trace_events.Question,
    step: trace_events.TraceEvent,
    region: str,
) -> dict[float, str]:
    """The answers to the same question about other steps and the other region, and of which each one is.

    Of places with one and the same answer, as far as rounded numbers tell, the nearest is told: that with the
    same step, then one with the same region; of several that are as near, that there are some.
    """
    regions = REGIONS if "{region}" in question.words else (region,)
    every = {(s.name, r): float(question.answer(recorded, s, r)) for s in recorded.steps() for r in regions}
    asked = f"{step.name}{_of(region, regions)}"
    told = {}
    for value in set(every.values()):
        same = [place for place, other in every.items() if math.isclose(value, other, rel_tol=2 * ROUNDED)]
        if (step.name, region) in same:
            continue
        near = [p for p in same if p[0] == step.name] or [p for p in same if p[1] == region] or same
        s, r = near[0]
        where = f"{s}{_of(r, regions)}" if len(near) == 1 else "another step"
        if len(near) > 1 and r != region:
            where += f" and '{r}'" if len({r for _, r in near}) == 1 else " and another region"
        told[value] = f" That is the answer for {where}, and asked for is {asked}."
    return told


def _of(region: str, regions: tuple[str, ...]) -> str:
    return f", '{region}'" if len(regions) > 1 else ""


Ask = Callable[[Path, str], list[Asked]]


def sheet(path: Path, student: object, ask: Ask = questions) -> str:
    """The questions for a student to read, without their answers; they are nobody's without a name."""
    if nobody := _nobody(student):
        return nobody
    assert isinstance(student, str)
    return "\n".join(f"{a.key:10s} {a.words} [{a.unit}]" for a in ask(path, student))


def _nobody(student: object) -> str:
    """Why ``student`` is nobody's name, as a sentence; "" if it is one."""
    if isinstance(student, int | float) and not isinstance(student, bool):
        return f'STUDENT is a number here; write it as text: `STUDENT = "{str(student)[:40]}"`.'
    if student is not None and not isinstance(student, str):
        return 'STUDENT is no text here; write your name or number in quotes: `STUDENT = "Ada"`.'
    if not student or not student.strip():
        return "Put your name or number into STUDENT first: it decides which questions are yours."
    return ""


@dataclass(frozen=True, slots=True)
class Quiz:
    """The submission's ``STUDENT`` says whose questions they are, its dict ``entry`` has the answers.

    ``ask`` makes them from the file at ``path``, one for each of ``keys``, and ``look`` asks back after a
    wrong answer.
    """

    path: str
    entry: str = "ANSWERS"
    points: int = 1
    keys: tuple[str, ...] = tuple(q.key for q in trace_events.QUESTIONS)
    ask: Ask = questions
    why: str = "A number read from the recorded trace."
    look: str = "Which events of the trace did you count?"

    @property
    def checks(self) -> tuple[Check, ...]:
        """One for each question."""
        return tuple(Check(key, self.points, self.why) for key in self.keys)

    def judge(self, session: PartSession) -> Iterator[Finding]:
        """Compare with the answers from the file; two percent off is right."""
        try:
            student = session.student or session.command("plain", entry="STUDENT").get("value")
            answers = session.command("plain", entry=self.entry).get("value")
        except FaultError as fault:
            yield from (session.fallen(check, fault) for check in self.checks)
            return
        if message := _nobody(student):
            line = session.line_of("STUDENT")
            message = f"Line {line}: {message}" if line else message
            yield from (check.failed(Status.WRONG_ANSWER, message, known=True) for check in self.checks)
            return
        assert isinstance(student, str)
        claimed = answers if isinstance(answers, dict) else {}
        every = self.ask(Path(self.path), student)
        renamed = "" if session.student else _renamed(every, claimed, session.line_of("STUDENT"))
        for check, asked in zip(self.checks, every, strict=True):
            line = python_source.line_of_key(session.grading.source, self.entry, asked.key)
            if asked.key not in claimed and (other := _misspelt(asked.key, claimed, self.keys)):
                line = python_source.line_of_key(session.grading.source, self.entry, other)
                message = (
                    f"Line {line}: no question is called {other!r}: is {asked.key!r} meant? {asked.words}"
                )
                yield check.failed(Status.WRONG_ANSWER, message, known=True)
                continue
            judged = _judged(check, asked, claimed.get(asked.key), asked.look or self.look, line)
            yield (
                replace(judged, message=f"{judged.message}{renamed}")
                if "answered" in judged.evidence
                else judged
            )


def _renamed(every: list[Asked], claimed: dict[object, object], line: int) -> str:
    """That the name may be another one than when the sheet was answered, with a space in front; or "".

    Two answers tell it, and most of those that are wrong: one alone is a step that was mistaken.
    """
    given = [(one, claimed.get(one.key)) for one in every]
    wrong = [(one, value) for one, value in given if _number(value) and not _right(one, value)]
    moved = [
        one for one, value in wrong if any(math.isclose(value, v, rel_tol=ROUNDED) for v in one.elsewhere)
    ]
    if len(moved) < 2 or 2 * len(moved) <= len(wrong):
        return ""
    at = f"Line {line}, STUDENT," if line else "STUDENT"
    return (
        f" {len(moved)} of your answers are right for another step or region than you are asked about. "
        f"{at} decides the questions: have you changed it since you answered? "
        "If so, put the old name back, or run the file again and answer the new questions."
    )


def _number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _right(asked: Asked, value: float) -> bool:
    assert isinstance(asked.answer, int | float)
    return math.isclose(value, asked.answer, rel_tol=TOLERANCE)


def _misspelt(key: str, claimed: dict[object, object], known: tuple[str, ...]) -> str:
    """A key of the answers that no question has, and that is like this one's; "" if there is none."""
    others = {str(one) for one in claimed} - set(known)
    plain = {re.sub(r"[\W_]", "", one).lower(): one for one in others}
    near = difflib.get_close_matches(re.sub(r"[\W_]", "", key).lower(), plain, 1, 0.7)
    return plain[near[0]] if near else ""


def _judged(check: Check, asked: Asked, claimed: Any, look: str, line: int) -> Finding:
    at = f"Line {line}: " if line else ""
    if claimed is None:
        return check.failed(
            Status.WRONG_ANSWER, f"{at}Not answered yet: {asked.words} [{asked.unit}]", known=True
        )
    if not _number(claimed):
        what = "is not a number; write it without its unit"
        if isinstance(claimed, str):
            what = "is a text, not a number; write it without quotes and without its unit"
        elif isinstance(claimed, list | tuple | set):
            what = f"is a {type(claimed).__name__}; write the number alone, without brackets and commas"
        message = f"{at}{asked.words} The answer {str(claimed)[:40]!r} {what}."
        return check.failed(Status.WRONG_ANSWER, message, known=True)
    assert isinstance(asked.answer, (int, float))
    if _right(asked, claimed):
        return check.passed(f"{asked.words} {claimed:g} {asked.unit}.")
    near = {abs(claimed - other): words for other, words in asked.mistaken.items()
            if math.isclose(claimed, other, rel_tol=ROUNDED)}  # fmt: skip
    hint = (near[min(near)] if near else "") or how_far.by(
        float(claimed), float(asked.answer), unit=asked.unit
    )
    thousands = [float(asked.answer) / 1000**k for k in (1, 2, 3)]
    if not hint and float(asked.answer).is_integer() and claimed != int(claimed) and claimed in thousands:
        hint = (
            f" For Python a point begins the fraction: this is a number near {claimed:.0f}. "
            "Between thousands it has no sign, or an underscore."
        )
    message = f"{at}{asked.words} {claimed:g} {asked.unit} is not right.{hint or f' {look}'}"
    return check.failed(Status.WRONG_ANSWER, message, answered=claimed)
