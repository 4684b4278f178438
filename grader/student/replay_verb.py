"""``course replay``: the launch that failed, or the one asked for, as a page that plays it."""

from __future__ import annotations

import os
import re
import shlex
import sys
import webbrowser
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from grader.backends import detect
from grader.domain import disk, lessons, submission, workspace
from grader.domain.errors import BadInputError
from grader.domain.installation import COURSE
from grader.domain.options import GradingOptions
from grader.referee.fault import FaultError
from grader.referee.job import lesson_job
from grader.referee.replay import SCHEDULES, Replay, Wanted
from grader.reports import replay_page
from grader.student import progress

if TYPE_CHECKING:
    from grader.domain.thread_recording import Recording
    from grader.referee.job import Job

NUMBERS = re.compile(r"\d{1,9}(?:\s*,\s*\d{1,9}){0,2}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was typed. ``block`` "x,y,z"; ``schedule`` a number, or "first" for the first that differs."""

    what: str
    file: Path | None = None
    reference: Path | None = None
    case: str = ""
    block: str = ""
    launch: int | None = None
    schedule: str = "0"
    beside: str = ""
    out: Path | None = None
    json: Path | None = None
    trace: Path | None = None
    show: bool = False
    sandbox: str = "auto"
    student: str = ""


def run(asked: Asked) -> int:
    """Record, write the page, say in a few lines what it shows; 0."""
    wanted = Wanted(asked.case, _block(asked.block), asked.launch, _schedule(asked.schedule))
    job, name = _job(asked)
    try:
        found = _recordings(job, wanted, asked)
    except FaultError as fault:
        raise BadInputError(f"There is nothing to replay: {fault.message}") from fault
    first = found[0][1]
    page = asked.out or workspace.for_results() / f"replay_{name}.html"
    disk.write(page, replay_page.page(found).encode())
    if asked.json:
        disk.write(asked.json, first.as_json())
    if asked.trace:
        disk.write(asked.trace, replay_page.trace(first).encode())
    for line in said(first):
        print(line)
    print(f"Open {workspace.shown(page)} in a browser.")
    if asked.show and _has_screen():
        webbrowser.open(page.resolve().as_uri())
    return 0


def said(recording: Recording) -> list[str]:
    """What a recording shows, in lines for a terminal."""
    head = recording.head
    blocks = ", ".join(str(b.index) for b in head.blocks if b.asked)
    beside = sum(not b.asked for b in head.blocks)
    more = f" and {beside} beside {'it' if len(head.blocks) - beside == 1 else 'them'}" if beside else ""
    lines = [
        f"{head.case}: {head.launch.kernel}, block {blocks}{more}, {len(recording):,} steps.",
        *(f"  {f.title}{f' (line {f.line})' if f.line else ''}" for f in head.findings),
    ]
    if any(b.cut for b in head.blocks):
        lines.append("  A block did more than is kept: its recording ends early.")
    return lines


def _recordings(job: Job, wanted: Wanted, asked: Asked) -> list[tuple[str, Recording]]:
    with Replay(job) as replay:
        if asked.schedule == "first":
            usual, other, number = replay.differing(wanted)
            if other is None:
                print(f"None of {SCHEDULES} orders that were tried leaves another result than the usual one.")
                return [("", usual)]
            return [("The usual order", usual), (f"Schedule {number}, the first that differs", other)]
        mine = with_command(replay.record(wanted), asked)
    if not asked.beside:
        return [("", mine)]
    path = _beside(asked)
    other_job = replace(job, submission=submission.read(path))
    block = wanted.block or next(b.index for b in mine.head.blocks if b.asked)
    with Replay(other_job) as replay:
        other = replay.record(replace(wanted, case=mine.head.case, block=block))
    return [(f"{job.submission.path.name}: yours", mine), (f"{path.name}: beside it", other)]


def with_command(recording: Recording, asked: Asked) -> Recording:
    """With the command that records another block of this launch, but for the block.

    On a page that a teacher gives to a student it is the student's, who has the file elsewhere.
    """
    head = recording.head
    words = [f"{COURSE}", "replay", *(["--reference", str(asked.reference)] if asked.reference else [])]
    words += [
        asked.what,
        *([str(asked.file)] if asked.file and not asked.student else []),
        "--case",
        head.case,
    ]
    words += ["--launch", str(head.launch.fitting)] if asked.launch is not None else []
    words += ["--schedule", str(head.launch.schedule)] if head.launch.schedule else []
    return replace(recording, head=msgspec.structs.replace(head, command=shlex.join(words)))


def _beside(asked: Asked) -> Path:
    """The file to show beside: a path, or "solution" of a lesson that is passed."""
    if asked.beside != "solution":
        return Path(asked.beside)
    lesson = lessons.find(asked.what)
    if not progress.read().line(lesson.name).passed:
        raise BadInputError(
            "A solution is shown beside your file once you have passed the lesson; "
            f"{COURSE} solution {lesson.number} asks whether you want to see it before."
        )
    return lesson.solution


def _job(asked: Asked) -> tuple[Job, str]:
    options = GradingOptions(backend="simt", sandbox=asked.sandbox, search=False, student=asked.student)
    choice = detect.choose("simt")
    if asked.reference:
        from grader.referee.pairs import pair_job

        if asked.file is not None:
            raise BadInputError("With --reference there is no lesson: give the reference and one file.")
        job = pair_job.job(asked.reference, Path(asked.what), choice, options)
        return replace(job, say=_say), Path(asked.what).stem
    lesson = lessons.find(asked.what)
    file = submission.read(asked.file or workspace.file(lesson))
    return replace(lesson_job(lesson, file, choice, options), say=_say), lesson.number


def _has_screen() -> bool:
    """Whether a browser could show anything; a text browser would take the terminal over."""
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _block(text: str) -> tuple[int, int, int] | None:
    if not text:
        return None
    if not NUMBERS.fullmatch(text.strip("() ")):
        raise BadInputError(f"--block {text!r} is no block: write its index as x,y,z, for instance 3,0,0.")
    numbers = [int(n) for n in text.strip("() ").split(",")]
    x, y, z = [*numbers, 0, 0][:3]
    return x, y, z


def _schedule(text: str) -> int:
    if text == "first":
        return 0
    if not text.isdigit() or int(text) >= 1 << 32:
        raise BadInputError(f"--schedule {text!r}: give a number (0 is the usual order), or: first.")
    return int(text)
