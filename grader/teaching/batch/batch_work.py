"""What a worker does: one grading, from an order that is plain data to an answer that is plain data.

Nothing but text goes over the wire: workers need the course's checkout, not the teacher's disk. A grading
goes the way of a single ``course check``; its player is a sandboxed process tree of its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
import traceback
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import msgspec

from grader.backends.detect import Choice
from grader.domain import cache, disk, lessons, submission, typed_data
from grader.domain.errors import BadInputError
from grader.domain.lessons import Lesson
from grader.domain.options import GradingOptions
from grader.domain.verdict import Status, Verdict
from grader.referee.job import Job, lesson_job
from grader.referee.pipeline import check, check_among_others, refused, waiting
from grader.referee.process import forkserver
from grader.teaching.batch import grading_key as key

NEUTRAL = "submission.py"  # what a file is called while it is graded: equal ones share a verdict
AHEAD = 4  # gradings for which players wait on a GPU: a start takes about as long as so many of built files


@dataclass(frozen=True, slots=True)
class Order:
    """One grading: its ``key``, and everything that decides about it.

    ``version`` is the task's, as the teacher's checkout has it. ``hidden``: the text of a file of hidden
    cases, since a worker has no such file. ``arch``: the GPU's compute capability, for building where there
    is none. ``options.hidden`` is the teacher's path, and not sent.
    """

    key: str
    lesson: str
    version: str
    source: str
    options: GradingOptions
    hidden: str = ""
    arch: str = ""

    def text(self) -> str:
        """As it goes over the wire."""
        return json.dumps(asdict(replace(self, options=replace(self.options, hidden=None))))


def read_order(text: str) -> Order:
    """What :meth:`Order.text` made; ValueError for anything else, BadInputError for options there are not."""
    return typed_data.convert(json.loads(text), Order)


class WorkerAnswer(msgspec.Struct, frozen=True):
    """What :func:`grade` answers: who graded, and the verdict or an ``error`` of the grader's own."""

    worker: str = ""
    verdict: Verdict | None = None
    error: str = ""


def grade(text: str) -> str:
    """Grade one order; JSON with a ``verdict``, or with an ``error`` of the grader's own. Never raises."""
    answer: dict[str, object] = {"worker": f"{socket.gethostname()}/{os.getpid()}"}
    try:
        job = prepare(read_order(text))
        judged = check_among_others if job.pools and job.pools.lent else check
        answer["verdict"] = judged(job).verdict.as_json()
    except BadInputError as error:
        answer["error"] = str(error)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        answer["error"] = (
            f"{type(error).__name__} in {Path(place.filename).name}, line {place.lineno}: {error}"
        )
    return json.dumps(answer)


def build(text: str) -> str:
    """On a GPU's host: compile an order's file into the cache without the GPU; says whether it was done."""
    from grader.referee import builder
    from grader.referee.fault import FaultError
    from grader.referee.process.player_process import Player

    order = read_order(text)
    try:
        job = prepare(order)
        env = cache.extensions(job.submission.source)
        hide = {"CUDA_VISIBLE_DEVICES": "", "TORCH_CUDA_ARCH_LIST": order.arch}
        player = Player(
            "cuda", job.limits, sees=(job.submission.path,), writes=tuple(map(Path, env.values())),
            build=builder.for_backend("cuda", job.limits.build, order.options.sandbox, card=order.arch),
            env=env | hide, mode=order.options.sandbox,
        )  # fmt: skip
        try:
            player.ready()
            player.ask("load", player.limits.load, path=str(job.submission.path))
        finally:
            player.stop()
    except (FaultError, BadInputError, OSError) as error:  # the grading itself will say what it is
        return f"not built: {error}"
    return "built"


def prepare(order: Order) -> Job:
    """The job of an order, with its file in this machine's cache."""
    lesson = lessons.find(order.lesson)
    if key.task_version(lesson.folder, order.hidden) != order.version:
        raise BadInputError(f"This worker's checkout has another version of lesson {lesson.number}.")
    options = order.options
    if order.hidden:
        options = replace(options, hidden=cached_file(order.hidden, "hidden", "cases.py"))
    # Named by content, so that equal files compile once, and neutral, since equal files share a verdict.
    read = submission.read(cached_file(order.source, "submissions", NEUTRAL))
    job = lesson_job(lesson, read, Choice(options.backend, "batch"), options)
    # A submission's player is always a new one in all its walls. The reference is trusted: without a GPU it
    # is forked, which costs a busy machine less than waiting players do.
    job = replace(job, forkservers={"cpu": forkserver.one("cpu")} if options.backend == "simt" else {})
    return waiting(job, AHEAD)


def cached_file(text: str | bytes, folder: str, name: str) -> Path:
    """A file with this content in the cache, by content; every process that wants it gets the same one."""
    data = text.encode() if isinstance(text, str) else text
    digest = hashlib.sha256(data).hexdigest()[:16]
    return disk.write(cache.cache_folder() / "batch" / folder / digest / name, data)


def read_answer(text: str) -> WorkerAnswer:
    """What :func:`grade` answered; "" stands for no answer. ValueError for anything else."""
    return typed_data.convert(json.loads(text), WorkerAnswer) if text else WorkerAnswer()


def called(verdict: Verdict, name: str) -> Verdict:
    """The verdict of a file of this name, which was graded under a neutral one."""

    def renamed(value: object) -> object:
        if isinstance(value, str):
            return re.sub(rf"\b{re.escape(NEUTRAL)}\b", lambda _: name, value)
        if isinstance(value, list | tuple):
            return [renamed(one) for one in value]
        if isinstance(value, dict):
            return {key: renamed(one) for key, one in value.items()}
        return value

    return Verdict.from_json(renamed(verdict.as_json()))


def unreadable(lesson: Lesson, name: str, backend: str, reason: str) -> Verdict:
    """The verdict where there is no submission: nothing was run, and ``load`` says why."""
    return _unloaded(_no_job(lesson, name, backend), reason, Status.NOT_RUN)


def ungraded(lesson: Lesson, backend: str, reason: str) -> Verdict:
    """The verdict when the grader could not do its work: nothing is the file's fault, and nothing counts."""
    said = reason.strip() or "The grader gave no reason."
    return _unloaded(_no_job(lesson, NEUTRAL, backend), said, Status.NOT_GRADABLE)


def _unloaded(job: Job, reason: str, status: Status) -> Verdict:
    verdict = refused(job, reason)
    first, *rest = verdict.findings
    return replace(verdict, findings=(replace(first, status=status), *rest))


def _no_job(lesson: Lesson, name: str, backend: str) -> Job:
    nothing = submission.Submission(Path(name), "", "")
    return Job(lesson.name, lesson.task, lesson.reference, nothing, Choice(backend, "batch"))
