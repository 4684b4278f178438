"""``course check``: from what was typed to a grading, from its outcome to screen, files and exit code."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.backends import detect
from grader.domain import disk, lessons, submission, workspace
from grader.domain.errors import BadInputError
from grader.domain.installation import COURSE
from grader.domain.verdict import Status, Verdict
from grader.referee.job import Job, Outcome, lesson_job
from grader.referee.pipeline import check as grade
from grader.referee.process import pool_client
from grader.reports import formats
from grader.student import progress
from grader.student.loop import guide, hints, predictions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.lessons import Lesson
    from grader.domain.options import GradingOptions
    from grader.feedback.look import Advice
    from grader.student.elsewhere.ssh_address import Address


@dataclass(frozen=True, slots=True)
class Subject:
    """What is graded: a lesson's file, the student's own by default; or ``what`` against a reference."""

    what: str
    file: Path | None = None
    reference: Path | None = None


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Another machine that grades; ``fresh``: again, even if it has done so before."""

    address: Address
    fresh: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What is shown and written beside the points. ``reports``: (format, file) of each to write."""

    reports: tuple[tuple[str, str], ...] = ()
    every: bool = False
    clock: bool = False
    profile: bool = False
    second_opinion: bool = False
    nvcc: bool = False

    @property
    def on_screen(self) -> bool:
        """Whether there is anything for a reader; where a report goes to "-", a program reads."""
        return all(file != "-" for _, file in self.reports)


@dataclass(slots=True)
class Grading:
    """A job, and what its verdict is shown with.

    ``own``: the lesson whose file in work/ this is. ``profiled``: where --profile describes the kernels.
    ``begun``: the table of checks is on the screen already.
    """

    job: Job
    own: Lesson | None = None
    opinion: list[Advice] = field(default_factory=list)
    profiled: list[str] | None = None
    begun: bool = False


def elsewhere(on: str, *, fresh: bool) -> Elsewhere | None:
    """What --on names; None if it was left out."""
    if not on:
        return None
    from grader.student.elsewhere import ssh_address

    return Elsewhere(ssh_address.parse(on), fresh)


def check(subject: Subject, options: GradingOptions, shown: Shown, elsewhere: Elsewhere | None = None) -> int:
    """Grade and report; 0 passed, 1 failed, 2 when the file never finished importing."""
    grading = _prepared(subject, options, shown, elsewhere)
    outcome = _graded_there(grading, subject, elsewhere) if elsewhere else grade(grading.job)
    if not elsewhere and not subject.reference and outcome.verdict.waiting:
        from grader.student.elsewhere import waiting_verdict

        waiting_verdict.keep(grading.job, outcome.verdict)
    lost = _written(outcome.verdict, grading, shown)
    if grading.own:
        outcome = _own(grading.own, outcome)
    if shown.on_screen:
        _show(outcome, grading, shown)
    if _never_imported(outcome.verdict):
        lost.insert(0, outcome.verdict.findings[0].message)
    if lost:
        print(*(f"course: {sentence}" for sentence in lost), sep="\n", file=sys.stderr)
        return 2
    taken = _by_nvcc(outcome) if shown.nvcc else True
    return 0 if outcome.verdict.ok and taken else 1


def _graded_there(grading: Grading, subject: Subject, elsewhere: Elsewhere) -> Outcome:
    """The outcome of another machine, with what was judged here of points that only this one can give."""
    from grader.student.elsewhere import remote_check, waiting_verdict
    from grader.teaching.batch import pending

    job, address = grading.job, elsewhere.address
    outcome = remote_check.outcome(job, subject.reference, address, job.say, fresh=elsewhere.fresh)
    verdict = outcome.verdict
    grading.job = replace(job, choice=detect.Choice(verdict.backend, f"judged on {address}"))
    here = None if subject.reference else waiting_verdict.find(job)
    if here is None or here.backend == verdict.backend:
        return outcome
    both = pending.fill(here, verdict)
    if others := pending.disagreements(both):
        job.say(f"{address} judges otherwise than this machine: {', '.join(others)}.")
        return outcome
    filled = here.waiting - both.waiting
    job.say(f"Points that waited here and that {address} has judged: {filled} of {here.waiting}.")
    return replace(outcome, verdict=both)


def _prepared(
    subject: Subject, options: GradingOptions, shown: Shown, elsewhere: Elsewhere | None
) -> Grading:
    """The grading that was asked for; BadInputError where the words do not fit each other or this machine."""
    if elsewhere:
        return _prepared_for(elsewhere, subject, options, shown)
    choice = detect.choose(options.backend)
    make = _pair if subject.reference else _lesson
    grading = make(subject, choice, options)
    if options.schedules > 1 and choice.name != "simt":
        raise BadInputError("--schedules shuffles blocks and warps on the CPU back end: add --backend simt.")
    if shown.nvcc and choice.name != "simt":
        raise BadInputError("On a GPU nvcc compiles the file anyway: leave --also-nvcc out.")
    if pool_client.wanted():  # this command ends: what waits, waits for the next one
        grading.job = replace(grading.job, pools=pool_client.shared())
    if shown.second_opinion:
        from grader.feedback.look import second_opinion

        grading.opinion = second_opinion.opinion(grading.job.submission)
    if shown.profile and subject.reference:
        from grader.profiling import pair_profile

        grading.profiled = []
        grading.job = replace(grading.job, timer=pair_profile.timer(grading.job, grading.profiled))
    if shown.on_screen:
        # Importing Rich takes a while; the players have long been started when it is needed.
        grading.job = replace(
            grading.job,
            say=lambda text: print(text, file=sys.stderr),
            tell=lambda stage, verdict: _tell(stage, verdict, grading, shown),
        )
    return grading


def _prepared_for(elsewhere: Elsewhere, subject: Subject, options: GradingOptions, shown: Shown) -> Grading:
    """The same for another machine, which looks at its back ends itself."""
    if shown.profile or shown.nvcc:
        raise BadInputError(
            f"With --on leave --profile and --also-nvcc out; {COURSE} profile FILE --on ... profiles there."
        )
    choice = detect.Choice("simt" if options.backend == "simt" else "cuda", f"on {elsewhere.address}")
    grading = (_pair if subject.reference else _lesson)(subject, choice, options)
    if shown.second_opinion:
        from grader.feedback.look import second_opinion

        grading.opinion = second_opinion.opinion(grading.job.submission)
    if shown.on_screen:
        grading.job = replace(grading.job, say=lambda text: print(text, file=sys.stderr))
    return grading


def _tell(stage: str, verdict: Verdict | None, grading: Grading, shown: Shown) -> None:
    """The table of checks, before a search that takes seconds: nobody waits for what is known."""
    if stage == "search" and verdict:
        from grader.reports import console

        console.show_table(console.screen(), verdict, grading.job.choice.why, every=shown.every)
        sys.stdout.flush()
        grading.begun = True


def _lesson(subject: Subject, choice: detect.Choice, options: GradingOptions) -> Grading:
    lesson = lessons.find(subject.what)
    file = submission.read(subject.file or workspace.file(lesson))
    return Grading(lesson_job(lesson, file, choice, options), None if subject.file else lesson)


def _pair(subject: Subject, choice: detect.Choice, options: GradingOptions) -> Grading:
    if subject.file is not None:
        raise BadInputError("With --reference there is no lesson: give the reference and one file to grade.")
    from grader.referee.pairs import pair_job

    assert subject.reference is not None
    return Grading(pair_job.job(subject.reference, Path(subject.what), choice, options))


def _written(verdict: Verdict, grading: Grading, shown: Shown) -> list[str]:
    """Write the files. What could not be written is said last: the verdict is there, and is shown."""
    lost: list[str] = []
    student = grading.job.options.student or verdict.submission
    for name, file in shown.reports:
        with _told(lost):
            formats.put(formats.single(verdict, name, student), file)
    if grading.own:
        with _told(lost):
            progress.record(verdict)
    return lost


@contextmanager
def _told(lost: list[str]) -> Iterator[None]:
    """What the disk does not take becomes a sentence in ``lost``."""
    try:
        yield
    except BadInputError as error:
        lost.append(str(error))
    except OSError as error:
        if not (sentence := disk.trouble(error)):
            raise
        lost.append(sentence)


def _own(lesson: Lesson, outcome: Outcome) -> Outcome:
    """The student's own file: the speed is kept back until it was predicted."""
    if not outcome.verdict.speed:
        return outcome
    if not predictions.awaited(lesson):
        for line in predictions.compared(lesson):
            print(line, file=sys.stderr)
        return outcome
    print(f"A speed is there. Predict it first: {COURSE} predict {lesson.number}", file=sys.stderr)
    return replace(outcome, verdict=predictions.without_speed(outcome.verdict))


def _show(outcome: Outcome, grading: Grading, shown: Shown) -> None:
    """The verdict, and what was asked for beside it, on the screen."""
    from grader.reports import console

    screen, verdict, job = console.screen(), outcome.verdict, grading.job
    if not grading.begun:
        console.show_table(screen, verdict, job.choice.why, every=shown.every)
    replayed = "" if grading.own else workspace.shown(job.submission.path)
    lesson = grading.own or next((one for one in lessons.every() if one.name == job.lesson), None)
    advice = hints.fitting(lesson, verdict, outcome.advice) if lesson else outcome.advice
    console.show_below(screen, verdict, advice, grading.opinion, replayed=replayed)
    if grading.own:
        guide.after(screen, grading.own, passed=verdict.ok)
    if timeable(grading.job, verdict):
        screen.print("Not timed. With --time its speed is measured on this GPU.", style="dim")
    if shown.clock:
        from grader.reports import clock_table

        clock_table.show(screen, verdict, job.task)
    if grading.profiled is not None:
        nothing = "Nothing was profiled: a file is profiled once every check passes."
        print("\n".join(grading.profiled) or nothing)


def timeable(job: Job, verdict: Verdict) -> bool:
    """Whether a file could have been timed here, and nobody has asked for it."""
    here = job.choice.name == "cuda" and job.task.speed is not None
    return verdict.ok and here and not job.options.with_speed


def _never_imported(verdict: Verdict) -> bool:
    first = verdict.findings[0]
    return first.id == "load" and first.status is Status.TIMEOUT


def _by_nvcc(outcome: Outcome) -> bool:
    """Say what nvcc says; whether it compiles everything."""
    from grader.referee import nvcc

    found = nvcc.opinions(outcome.requests, lambda text: print(text, file=sys.stderr))
    for one in found:
        if one.error:
            print(f"nvcc refuses {one.name} ({one.place or 'no line'}): {one.error}\n{one.advice}".rstrip())
        else:
            print(f"nvcc compiles {one.name}, too ({one.seconds:.0f} s).")
    if not found:
        print("There is no CUDA source that nvcc could compile.")
    return not any(one.error for one in found)
