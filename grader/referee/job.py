"""What is to be graded and what came of it: data, and who is told meanwhile."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from grader.domain import lessons
from grader.domain.options import GradingOptions
from grader.referee.lesson_problem import LessonProblem
from grader.referee.process.player_process import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from grader.backends import detect
    from grader.backends.extension.request import BuildRequest, Built
    from grader.domain.lessons import Lesson
    from grader.domain.speed import Speed
    from grader.domain.submission import Submission
    from grader.domain.task import Task
    from grader.domain.verdict import Verdict
    from grader.feedback.look import Advice
    from grader.referee.problem import Problem, Sides
    from grader.referee.process.forkserver import Forkserver
    from grader.referee.process.kept_reference import KeptReference
    from grader.referee.process.pool_client import Pools
    from grader.referee.session import Session


def _silent(*_: object) -> None:
    """Say nothing."""


@dataclass(slots=True)
class Job:
    """What is to be graded, how, and who listens meanwhile.

    ``tell`` hears that a stage is over: "loaded", and "judged" with the verdict before any speed; and
    "search", with the verdict, before the one change that would mend a file is looked for: that takes long.
    ``reins`` gets what ends the grading early: called from any thread, it kills all of its processes.
    ``forkservers`` by back end: players are forked from them instead of started; of "reference" only its own.
    ``pools``: where players wait that may be used instead, in the whole sandbox. ``references``: keeps the
    reference's for the next grading.
    ``beside``: more files that the submission may read; ``reference_beside``: that the reference may.
    ``pose`` makes the problem that both sides get. ``timer`` finds the speed of a submission that passed,
    where the task itself says nothing about it; ``races``: whether that reads the GPU's clock.
    ``alone``: no other grading uses the GPU meanwhile.
    ``rights``: texts of right files; where a check fails for a reason that no rule knows, the one change that
    would make it pass is looked for (:mod:`grader.referee.nearest`, on the CPU back end).
    """

    lesson: str
    task: Task
    reference: Path
    submission: Submission
    choice: detect.Choice
    limits: Limits = field(default_factory=Limits)
    options: GradingOptions = field(default_factory=GradingOptions)
    say: Callable[[str], None] = _silent
    tell: Callable[[str, Verdict | None], None] = _silent
    reins: Callable[[Callable[[], None]], None] = _silent
    forkservers: dict[str, Forkserver] = field(default_factory=dict)
    pools: Pools | None = None
    references: KeptReference | None = None
    beside: tuple[Path, ...] = ()
    reference_beside: tuple[Path, ...] = ()
    timer: Callable[[Session], Speed | None] | None = None
    races: bool = True
    alone: bool = False
    pose: Callable[[Sides], Problem] = LessonProblem
    rights: tuple[str, ...] = ()

    @property
    def folders(self) -> list[str]:
        """Beside its own, the folders that the submission may import from."""
        return sorted({str(p if p.is_dir() else p.parent) for p in self.beside})


def named_below(folder: Path, files: Iterable[Path]) -> dict[str, Path]:
    """The files among ``files`` by their paths below ``folder``; one that lies elsewhere by its name."""
    home = folder.resolve()
    return {str(p.relative_to(home)) if p.is_relative_to(home) else p.name: p for p in files if p.is_file()}


def lesson_job(lesson: Lesson, file: Submission, choice: detect.Choice, options: GradingOptions) -> Job:
    """The grading of a lesson's file; BadInputError for a file of hidden cases that is none."""
    return Job(
        lesson.name,
        lessons.with_hidden(lesson.task, options.hidden) if options.hidden else lesson.task,
        lesson.reference,
        file,
        choice,
        within(Limits(), options),
        options,
        rights=solutions(lesson.solution.parent) if options.search else (),
    )


def within(usual: Limits, options: GradingOptions) -> Limits:
    """The usual limits, with what was asked for instead."""
    load, call = options.limit_s or usual.load, options.limit_s or usual.call
    return replace(usual, load=load, call=call, memory_bytes=options.memory_bytes)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict and what is only for the reader at the terminal."""

    verdict: Verdict
    advice: list[Advice]
    builds: list[Built]
    requests: list[BuildRequest] = field(default_factory=list)


def solutions(folder: Path) -> tuple[str, ...]:
    """The texts of a lesson's right files, the course's own first."""
    paths = [folder / "solution.py", *sorted((folder / "alternatives").glob("*.py"))]
    return tuple(p.read_text("utf-8") for p in paths if p.is_file())
