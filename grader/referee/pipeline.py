"""The way of a submission through the house: look, build, play, judge, verdict."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.backends import detect
from grader.backends.simt.request import BuildRequest
from grader.domain import cache, gpu_card
from grader.domain.submission import Submission
from grader.domain.task import Task
from grader.domain.verdict import Finding, Status, Verdict
from grader.feedback.explain import functions_first
from grader.feedback.explain.attach import explained
from grader.feedback.look import Advice, look
from grader.referee import cpu_environment, nearest, sandbox
from grader.referee import parts as kinds
from grader.referee.fault import FaultError
from grader.referee.peers import Rivals
from grader.referee.process import forkserver
from grader.referee.process.forkserver import Nursery
from grader.referee.process.player_process import Limits, Player
from grader.referee.reference import Oracle
from grader.referee.session import Match, Record

if TYPE_CHECKING:
    from grader.referee.inspection import Inspection


def _silent(*_: object) -> None:
    """Say nothing."""


@dataclass(slots=True)
class Job:
    """What is to be graded, how, and who listens meanwhile.

    ``tell`` hears that a stage is over: "loaded", and "judged" with the verdict before any speed.
    ``reins`` gets what ends the grading early: called from any thread, it kills all of its processes.
    ``baselines``: modes of torch.compile to race beside eager. ``card``: predicted for without a GPU.
    ``schedules``: orders of blocks and warps to play each case in (CPU back end).
    ``nurseries`` by back end: players are forked from them instead of started; of "reference" only its own.
    ``beside``: more files that the submission may read; ``reference_beside``: that the reference may.
    ``timer`` finds the speed of a submission that passed, where the task itself says nothing about it.
    ``rights``: texts of right files; where a check fails for a reason that no rule knows, the one change that
    would make it pass is looked for (:mod:`grader.referee.nearest`, on the CPU back end).
    """

    lesson: str
    task: Task
    reference: Path
    submission: Submission
    choice: detect.Choice
    limits: Limits = field(default_factory=Limits)
    with_speed: bool = False
    baselines: tuple[str, ...] = ()
    card: str = gpu_card.DEFAULT
    sandbox: str = "auto"
    student: str = ""
    schedules: int = 1
    say: Callable[[str], None] = _silent
    tell: Callable[[str, Verdict | None], None] = _silent
    reins: Callable[[Callable[[], None]], None] = _silent
    nurseries: dict[str, Nursery] = field(default_factory=dict)
    beside: tuple[Path, ...] = ()
    reference_beside: tuple[Path, ...] = ()
    timer: Callable[[Match], dict[str, Any] | None] | None = None
    rights: tuple[str, ...] = ()

    @property
    def folders(self) -> list[str]:
        """Beside its own, the folders that the submission may import from."""
        return sorted({str(p if p.is_dir() else p.parent) for p in self.beside})


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict and what is only for the reader at the terminal."""

    verdict: Verdict
    advice: list[Advice]
    builds: list[dict[str, object]]
    requests: list[BuildRequest] = field(default_factory=list)


# Notices about the machine that this process has given: it may grade many files, and once is enough.
_SAID: set[str] = set()


def check(job: Job) -> Outcome:
    """Grade one submission. Only :class:`~grader.domain.errors.BadInputError` and toolchain errors are
    raised."""
    begun = time.monotonic()
    stages: dict[str, float] = {}
    sandbox.require(job.sandbox)
    starter = job.reference.with_name("exercise.py")
    advice = look(job.submission, job.task, starter.read_text("utf-8") if starter.is_file() else "")
    syntax = job.submission.syntax_error()
    stages["look"] = time.monotonic() - begun
    if syntax is not None:
        record = _unread(job, syntax)
        if job.rights and job.choice.name == "simt":
            record.nearest = _nearest(job, record, None)
        return Outcome(_verdict(job, record, stages, begun, None), advice, [])
    if (lacking := sandbox.notice(job.sandbox)) and lacking not in _SAID:
        _SAID.add(lacking)
        job.say(lacking)
    builder = None
    if job.choice.name == "simt":
        from grader.referee import builder as build  # not needed, and not loaded, where there is a GPU

        build.prepare(job.say)
        builder = build.SimtBuilder(job.limits.build, job.sandbox)

    env = cache.extensions(job.submission.source) if job.choice.name == "cuda" else {}
    writes = tuple(Path(folder) for folder in env.values())

    def start() -> Player:
        return Player(
            job.choice.name, job.limits, sees=(job.submission.path, *job.beside), writes=writes,
            build=builder, env=env, mode=job.sandbox, nursery=job.nurseries.get(job.choice.name),
        )  # fmt: skip

    # Both processes import torch at the same time; that is most of what an unchanged file costs.
    kind = "cuda" if job.choice.name == "cuda" else "cpu"
    answering = bool(job.task.cases or job.task.reference_entry)
    sees = (job.reference, *job.reference_beside) if answering else ()
    parent = job.nurseries.get("reference") or job.nurseries.get(kind)
    reference = Player(kind, job.limits, sees=sees, mode=job.sandbox, nursery=parent)
    oracle = Oracle(reference, job.task)
    inspection = _inspection(job)
    match = Match(
        job.task, str(job.submission.path), start, oracle, inspection.findings if inspection else None
    )
    match.student, match.known_clean = job.student, inspection.known if inspection else ""

    def loaded() -> None:
        if inspection:
            inspection.allow()
        job.tell("loaded", None)

    match.loaded = loaded
    rivals = Rivals(job, start)
    match.twin, match.solution = rivals.twin, rivals.solution
    match.folders = job.folders
    if job.choice.name == "cuda":
        match.on_cpu = functools.cache(
            lambda: cpu_environment.findings(job.lesson, job.submission.path, job.sandbox, job.student)
        )
    match.schedules = job.schedules if job.choice.name == "simt" else 1

    def abandon() -> None:
        match.abandon()
        reference.strike()
        rivals.strike()

    job.reins(abandon)
    measured = None
    try:
        if job.task.cases:
            oracle.load(str(job.reference))
        record = match.run()
        record.warned = builder.warned if builder else []
        job.tell("judged", _verdict(job, record, stages | record.stages, begun, None))
        if job.with_speed and (job.task.speed or job.timer) and all(f.ok for f in record.findings):
            timed = time.monotonic()
            measured = _timed(job, match)
            record.stages["speed"] = time.monotonic() - timed
        if job.rights and job.choice.name == "simt":
            begun_search = time.monotonic()
            record.nearest = _nearest(job, record, oracle)
            record.stages["nearest"] = time.monotonic() - begun_search
    except FaultError as fault:
        match.record.findings = [fault.finding("reference", job.task.max_points)]
        record = match.record
    finally:
        match.close()
        if inspection:
            inspection.stop()
        reference.stop()
        rivals.stop()
    stages |= record.stages
    verdict = _verdict(job, record, stages, begun, measured)
    return Outcome(verdict, advice, *((builder.builds, builder.requests) if builder else ([], [])))


def _timed(job: Job, match: Match) -> dict[str, Any] | None:
    """The speed; a submission that is right until it is timed loses its points."""
    try:
        if job.timer:
            return job.timer(match)
        from grader.referee.timing import (
            speed,  # the clocks are not needed, and not loaded, before a file is right
        )

        return speed.of(match, job.task, job.choice.name, job.baselines, job.card)
    except FaultError as fault:
        match.forfeit()
        match.record.findings.append(fault.finding("speed"))
        return None


def warm(job: Job) -> Job:
    """The same job with players that are forked, not started: for many of the course's own files in a row.

    They confine themselves but have no namespaces.
    """
    if job.choice.name == "simt":
        from grader.referee import builder as build

        build.prepare(job.say)
    return replace(job, nurseries=forkserver.shared(job.choice.name))


def warm_reference(job: Job) -> Job:
    """The same job with a forked player for the reference only, which is trusted: for many files in a row."""
    if job.choice.name == "cuda":
        return job
    if job.choice.name == "simt":
        from grader.referee import builder as build

        build.prepare(job.say)
    return replace(job, nurseries={"reference": forkserver.shared(job.choice.name)["cpu"]})


def _inspection(job: Job) -> Inspection | None:
    """On a GPU compute-sanitizer looks at memory; the CPU back end sees it during the cases."""
    if job.choice.name != "cuda" or not job.task.memory_points:
        return None
    from grader.referee import sanitizer
    from grader.referee.inspection import Inspection

    if not sanitizer.tool():
        job.say("compute-sanitizer is not installed: memory is not checked; --backend simt checks it.")
        job.task = replace(job.task, memory_points=0)
        return None
    subject = sanitizer.Subject(job.task, str(job.submission.path), job.submission.source, job.limits)
    return Inspection(subject, keep=not job.beside)


def refused(job: Job, reason: str) -> Verdict:
    """The verdict on a file that cannot even be read: nothing was run, and ``load`` says why."""
    return _verdict(job, _not_loaded(job, reason, {}), {}, time.monotonic(), None)


def _unread(job: Job, error: SyntaxError) -> Record:
    where = f"{job.submission.path.name}, line {error.lineno}: " if error.lineno else ""
    evidence = {"line": error.lineno, "code": (error.text or "").strip()}
    message = f"SyntaxError: {where}{error.msg}"
    if error.text and error.offset and "\t" not in error.text:
        code = error.text.rstrip("\n")
        spaces = len(code) - len(code.lstrip())
        message += f"\n    {code.strip()}\n    {' ' * (error.offset - 1 - spaces)}^"
    return _not_loaded(job, message, evidence)


def _not_loaded(job: Job, message: str, evidence: dict[str, Any]) -> Record:
    findings = [Finding("load", Status.IMPORT_ERROR, message, 0, 0, evidence)]
    findings += [Finding(c.name, Status.NOT_RUN, c.why, 0, c.points) for c in job.task.cases]
    if job.task.memory_points:
        findings.append(Finding("memory", Status.NOT_RUN, "", 0, job.task.memory_points))
    for part in job.task.parts:
        findings += kinds.not_run(part)
    return Record(findings=findings)


def _explained(job: Job, record: Record) -> list[Finding]:
    """The findings, each with its cause where that is known."""
    marked = functions_first.marked(record.findings, job.task, job.submission.source)
    return [explained(f, job.submission.source, record.warned) for f in marked]


def _nearest(job: Job, record: Record, oracle: Oracle | None) -> dict[str, Any] | None:
    """The one change that would bring the first failed check to pass, as evidence; None if there is none."""
    found = _verdict(job, record, {}, 0.0, None).failed
    if not found or not nearest.wanted(found[0]):
        return None

    def start(path: Path) -> Player:
        from grader.referee import builder as build

        builder = build.SimtBuilder(nearest.LIMITS.build, job.sandbox)
        parent = job.nurseries.get("simt") or nearest.nursery()
        return Player("simt", nearest.LIMITS, sees=(path,), build=builder, mode=job.sandbox, nursery=parent)

    job.say("Looking for the one change that would mend it ...")
    change = nearest.search(
        job.submission.source, job.submission.path.name, job.rights, found, job.task, oracle, start
    )
    return {"id": found[0].id, "explanation": change.as_json()} if change else None


def _verdict(
    job: Job, record: Record, stages: dict[str, float], begun: float, measured: dict[str, object] | None
) -> Verdict:
    facts = {k: str(v) for k, v in record.facts.items()}
    known = record.nearest or {}
    return Verdict(
        lesson=job.lesson,
        submission=job.submission.name,
        backend=job.choice.name,
        device=facts.pop("device", "unknown"),
        findings=tuple(
            replace(f, evidence=f.evidence | {"explanation": known["explanation"]})
            if f.id == known.get("id")
            else f
            for f in _explained(job, record)
        ),
        seconds=time.monotonic() - begun,
        stages=stages,
        speed=measured,
        output=record.output,
        versions=facts,
    )
