"""Predictions: written down before a number is shown, compared with it afterwards."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.domain import lessons, result_value
from grader.domain.errors import BadInputError
from grader.student import progress
from grader.student.progress import Guess

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.table import Table
    from rich.text import Text

    from grader.domain.lessons import Lesson
    from grader.domain.task import Prediction
    from grader.domain.verdict import Verdict

SCALE = 31  # columns of the calibration plot, from 1/10 over 1 to 10 times what was found
NEAR = 1.05  # of a number that is measured
COUNTED = 10_000  # whole numbers below it are counted


def open_questions(lesson: Lesson) -> list[Prediction]:
    """The lesson's questions that have no prediction yet."""
    made = progress.read().guesses
    return [p for p in lesson.task.predictions if (lesson.name, p.what) not in made]


def listed(lesson: Lesson) -> str:
    """The open questions, numbered as on the page, each with the unit of its answer."""
    left = open_questions(lesson)
    asked = lesson.task.predictions
    return "\n".join(f"{k}. {one.asked}" for k, one in enumerate(asked, 1) if one in left)


def awaited(lesson: Lesson) -> bool:
    """Whether a question that a grading would answer has no prediction yet."""
    return any(p.answer is None for p in open_questions(lesson))


def answer(question: Prediction) -> float | None:
    """What is known of a question beforehand; None where the grader finds it."""
    given = question.answer
    return result_value.find(given) if isinstance(given, str) else given


def number(text: str, *, least: float = math.nextafter(0, 1)) -> float:
    """A number as a person types it: 1.5, 1,5, 2x or 3 %. Positive, unless ``least`` is 0."""
    try:
        value = float(text.strip().removesuffix("x").removesuffix("%").strip().replace(",", "."))
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= least):
        kind = "positive number" if least else "number from 0 on"
        raise BadInputError(f"{text!r} is not a {kind}; a prediction is one, such as 1.5.")
    return value


def make(lesson: Lesson, values: list[str], ask: Callable[[str], str]) -> list[Guess]:
    """Store a prediction for each open question: from ``values``, and ``ask`` for those that are left.

    One whose answer is known is compared with it at once, when all have been made.
    """
    if not lesson.task.predictions:
        asking = ", ".join(one.number for one in lessons.every() if one.task.predictions)
        raise BadInputError(
            f"Lesson {lesson.number} asks for no number beforehand; lessons {asking} do. What its page asks "
            "under Predict is for your own paper."
        )
    questions = open_questions(lesson)
    if len(values) > len(questions):
        left = len(questions) or "no"
        raise BadInputError(
            f"Lesson {lesson.number} has {left} open question{'s' * (left != 1)}; a prediction is made once."
        )
    made = []
    for i, question in enumerate(questions):
        found = answer(question)
        text = values[i] if i < len(values) else ask(question.asked)
        value = number(text, least=0) if found is not None else number(text)
        made.append(Guess(lesson.name, question.what, value, found if found is None else float(found)))
    kept = progress.read()
    kept.guesses |= {(g.lesson, g.what): g for g in made}
    kept.save()
    return made


def calibration(guesses: list[Guess]) -> Table:
    """Every prediction beside what was found, on a scale from 10 times too low to 10 times too high."""
    from rich.table import Table  # here, since a check wants to start its players before this is imported

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("lesson", "about", "predicted", "found"):
        table.add_column(
            heading, no_wrap=True, justify="right" if heading in ("predicted", "found") else "left"
        )
    table.add_column("too low" + "right".center(SCALE - 15) + "too high", no_wrap=True)
    for guess in guesses:
        found = "" if guess.found is None else f"{guess.found:g}"
        about = guess.what.removesuffix("_ratio")
        table.add_row(guess.lesson[:2], about, f"{guess.value:g}", found, dot(guess))
    return table


def dot(guess: Guess) -> Text:
    """How far the guess is off, between a tenth and ten times of what was found, on a small scale."""
    from rich.text import Text

    if guess.found is None:
        return Text("not measured yet".center(SCALE), "dim")
    if min(guess.value, guess.found) <= 0:  # which has no place on a scale of ratios
        return Text(off(guess.value, guess.found).center(SCALE), "dim")
    apart = max(-1.0, min(1.0, math.log10(guess.value / guess.found)))
    at = round((apart + 1) / 2 * (SCALE - 1))
    row = ["·"] * SCALE
    row[SCALE // 2] = "|"
    row[at] = "●"
    style = "green" if abs(apart) < math.log10(1.25) else "yellow" if abs(apart) < math.log10(2) else "red"
    return Text("".join(row), style)


def compared(lesson: Lesson) -> list[str]:
    """For each prediction of the lesson that has been measured: both numbers, and how far apart they are."""
    told = {p.what for p in lesson.task.predictions if p.answer is not None}  # when they were made
    lines = []
    for guess in progress.read().guesses.values():
        if guess.lesson == lesson.name and guess.found and guess.what not in told:
            about = guess.what.removesuffix("_ratio")
            found = f"found: {guess.found:g} ({off(guess.value, guess.found)})"
            lines.append(f"You predicted {guess.value:g} for the {about}; {found}.")
    return lines


def resolved(question: Prediction, guess: Guess) -> str:
    """The answer of a question beside the prediction, and why."""
    assert guess.found is not None
    found = f"{_plain(guess.found)} {question.unit}".rstrip()
    how = off(guess.value, guess.found)
    return f"{question.question}\n  You: {_plain(guess.value)}. Answer: {found} ({how}).\n  {question.why}"


def off(value: float, found: float) -> str:
    """How far a prediction is off, in a few words. One that could be counted is right or it is not."""
    if value <= 0 or found <= 0:
        return "right" if value == found else "not right"
    ratio = max(value / found, found / value)
    counted = found.is_integer() and found < COUNTED
    if counted and value != found and ratio < NEAR:
        return f"nearly: {_plain(abs(value - found))} too {'high' if value > found else 'low'}"
    return "right" if ratio < NEAR else f"{ratio:.2g}x too {'high' if value > found else 'low'}"


def _plain(value: float) -> str:
    """Whole numbers in full, as counts are; others with four digits."""
    return f"{value:,.0f}" if value.is_integer() else f"{value:.4g}"


def without_speed(verdict: Verdict) -> Verdict:
    """The verdict as it may be shown before the predictions are made."""
    return replace(verdict, speed=None)
