"""``course exam LESSON --name NAME``: variants to hand out, keys to keep, and the grading of an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.backends import detect
from grader.domain import submission, workspace
from grader.domain.errors import BadInputError
from grader.domain.installation import COURSE
from grader.domain.options import GradingOptions
from grader.referee.job import Job, Outcome
from grader.referee.pipeline import check
from grader.teaching.exam import sheet
from grader.teaching.exam.draws import Draws

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Wanted:
    """Whose variants, drawn with which secret, and the folder that they are written to; or a term's."""

    names: tuple[str, ...]
    secret: str
    out: Path
    term: str = ""

    def draws(self) -> list[Draws]:
        """What is drawn for each of them."""
        named = [Draws(name, self.secret) for name in self.names]
        return [*named, *([Draws.of_term(self.term, self.secret)] if self.term else [])]


def run(lesson: str, wanted: Wanted, answer: Path | None, backend: str) -> int:
    """Write the variants, and grade an answer if there is one: 0 when it is right."""
    draws = wanted.draws()
    if not draws:
        raise BadInputError(
            "Whose exam is it? Give --name ada for a student's, or --term 2027w for a term's."
        )
    if answer is not None and len(draws) != 1:
        raise BadInputError("One file is the answer of one student: give --name once with --grade.")
    sheets = [sheet.write(lesson, one, wanted.out) for one in draws]
    if answer is None:
        for one in sheets:
            print(f"{workspace.shown(one.starter)}  key: {workspace.shown(one.key)}")
        if wanted.term:
            root, number = workspace.shown(sheets[-1].root), sheets[-1].lesson.number
            print(f"Grade a class with it: COURSE_ROOT={root} {COURSE} batch FOLDER --lesson {number}")
        if not wanted.secret:
            print("Drawn without --secret: students who have the course can write these keys themselves.")
        return 0
    outcome = graded(sheets[0], answer, detect.choose(backend))
    from grader.reports import console

    why = f"the exam of {draws[0].name}"
    console.show(console.screen(), outcome.verdict, why, outcome.advice)
    return 0 if outcome.verdict.ok else 1


def graded(one: sheet.Sheet, answer: Path, choice: detect.Choice) -> Outcome:
    """What comes of a student's answer to their variant."""
    lesson, options = one.lesson, GradingOptions(search=False)
    return check(
        Job(lesson.name, lesson.task, lesson.reference, submission.read(answer), choice, options=options)
    )
