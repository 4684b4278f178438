"""What the longer verbs do, apart from parsing their arguments."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from grader.backends import detect
from grader.domain import disk, gpu_card, lessons, submission, workspace
from grader.domain.errors import BadInputError
from grader.domain.lessons import Lesson
from grader.domain.verdict import Status, Verdict
from grader.feedback.look import Advice
from grader.referee import nearest
from grader.referee.job import Job, Outcome
from grader.referee.pipeline import check as grade
from grader.reports import formats
from grader.student import progress
from grader.student.loop import guide, predictions


def check(
    what: str,
    file: Path | None,
    reference: Path | None,
    wanted: str,
    reports: tuple[tuple[str, str], ...] = (),
    sandbox: str = "auto",
    hidden: Path | None = None,
    *,
    second_opinion: bool = False,
    schedules: int = 1,
    also_nvcc: bool = False,
    time: bool = False,
    baselines: tuple[str, ...] = (),
    inputs: str = "unkind",
    mode: str = "",
    profile: bool = False,
    card: str = gpu_card.DEFAULT,
    every: bool = False,
    student: str = "",
    search: bool = True,
) -> int:
    """Grade and report; 0 passed, 1 failed, 2 when the file never finished importing.

    ``reports``: (format, file) of each that is to be written; with the file "-" nothing else is printed.
    """
    alone = any(out == "-" for _, out in reports)
    choice = detect.choose(wanted)
    gpu_card.card(card)  # says which there are
    if reference is not None:
        if file is not None:
            raise BadInputError(
                "With --reference there is no lesson: give the reference and one file to grade."
            )
        from grader.profiling import pair_profile
        from grader.referee.pairs import pair_job as pairs

        given = pairs.Options(inputs, mode, baselines=baselines, card=card.lower())
        seen: list[str] = []
        job = replace(pairs.job(reference, Path(what), choice, given), with_speed=time or profile)
        if profile:
            job = replace(job, timer=pair_profile.timer(job, seen))
    else:
        lesson = lessons.find(what)
        job = Job(
            lesson.name,
            lessons.with_hidden(lesson.task, hidden) if hidden else lesson.task,
            lesson.reference,
            submission.read(file or workspace.file(lesson)),
            choice,
            with_speed=True,
            rights=nearest.solutions(lesson.solution.parent) if search else (),
            student=student,
        )
    if schedules > 1 and choice.name != "simt":
        raise BadInputError("--schedules shuffles blocks and warps on the CPU back end: add --backend simt.")
    if also_nvcc and choice.name != "simt":
        raise BadInputError("On a GPU nvcc compiles the file anyway: leave --also-nvcc out.")
    if baselines:
        from grader.referee.timing.task_speed import BASELINES

        if unknown := [name for name in baselines if name not in BASELINES]:
            known = ", ".join(BASELINES)
            raise BadInputError(f"There is no baseline {unknown[0]!r}; beside eager there are: {known}.")
    job = replace(job, sandbox=sandbox, schedules=schedules, baselines=baselines, card=card.lower())
    opinion: list[Advice] = []
    if second_opinion:
        from grader.feedback.look import second_opinion as second

        opinion = second.opinion(job.submission)
    if not alone:
        # Importing Rich takes a while; the players have long been started when it is needed.
        job = replace(job, say=lambda text: print(text, file=sys.stderr))
    outcome = grade(job)
    lost: list[str] = []  # what could not be written is said last: the verdict is there, and is shown
    for name, out in reports:
        with _told(lost):
            formats.put(formats.single(outcome.verdict, name, student or outcome.verdict.submission), out)
    if file is None and reference is None:
        with _told(lost):
            progress.record(outcome.verdict)
        outcome = _own(lesson, outcome)
    if not alone:
        from grader.reports import console

        screen = console.screen()
        console.show(screen, outcome.verdict, choice.why, outcome.advice, opinion, every=every)
        if file is None and reference is None:
            guide.after(screen, lesson, outcome.verdict.ok)
        if time:
            from grader.reports import clock_table

            clock_table.show(console.screen(), outcome.verdict, job.task)
        if reference is not None and profile:
            print("\n".join(seen) or "Nothing was profiled: a file is profiled once every check passes.")
    if _never_imported(outcome.verdict):
        lost.insert(0, outcome.verdict.findings[0].message)
    if lost:
        print(*(f"course: {sentence}" for sentence in lost), sep="\n", file=sys.stderr)
        return 2
    taken = _by_nvcc(outcome) if also_nvcc else True
    return 0 if outcome.verdict.ok and taken else 1


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
    if not predictions.open_questions(lesson):
        for line in predictions.compared(lesson):
            print(line, file=sys.stderr)
        return outcome
    print(f"A speed is there. Predict it first: ./course predict {lesson.number}", file=sys.stderr)
    return replace(outcome, verdict=predictions.without_speed(outcome.verdict))


def _never_imported(verdict: Verdict) -> bool:
    first = verdict.findings[0]
    return first.id == "load" and first.status is Status.TIMEOUT


def docs_offline() -> int:
    """Build a copy of the site that needs no server, as site/inline-to-fused.zip."""
    root = lessons.course_root()
    env = os.environ | {"NO_MKDOCS_2_WARNING": "1", "COURSE_OFFLINE": "true"}
    with tempfile.TemporaryDirectory() as folder:
        pages = Path(folder) / "inline-to-fused"
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(pages)]
        code = subprocess.run(command, cwd=root, env=env, check=False).returncode
        if code == 0:
            (root / "site").mkdir(exist_ok=True)
            made = shutil.make_archive(
                str(root / "site" / "inline-to-fused"), "zip", folder, "inline-to-fused"
            )
            print(f"{made}: unpack it and open inline-to-fused/index.html")
    return code


def docs(serve: bool) -> int:
    """Build the site with MkDocs, or serve it."""
    env = os.environ | {"NO_MKDOCS_2_WARNING": "1"}  # Material's notice is for maintainers
    command = [sys.executable, "-m", "mkdocs", *(["serve"] if serve else ["build", "--strict"])]
    try:
        return subprocess.run(command, cwd=lessons.course_root(), env=env, check=False).returncode
    except KeyboardInterrupt:
        return 0
