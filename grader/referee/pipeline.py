"""The way of a submission through the house: look, build, play, judge, verdict."""

from __future__ import annotations

import contextlib
import functools
import itertools
import operator
import os
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.backends import detect
from grader.domain import cache
from grader.domain.verdict import PENDING, Finding, Status, Verdict
from grader.domain.visible import all_visible, visible
from grader.domain.within import TooMuchError, within
from grader.feedback.explain import functions_first
from grader.feedback.look import look
from grader.feedback.look.advice import Advice
from grader.protocol import messages
from grader.referee import builder, cpu_environment, grading, parts, sandbox, sanitizer, stream_check
from grader.referee.fault import FaultError
from grader.referee.gpu_turns import GpuTurns
from grader.referee.inspection import Inspection
from grader.referee.job import Job, Outcome
from grader.referee.peers import PeerProcesses
from grader.referee.process import forkserver, kept_reference, pool_client
from grader.referee.process.player_process import Player
from grader.referee.session import Record, Session
from grader.referee.side import Reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.domain.speed import Speed
    from grader.protocol.messages import MemoryFinding
    from grader.referee.cuda_builder import CudaBuilder

# In a line of its own: behind a statement many leave it standing. And what has an open end is never done.
TODO = re.compile(r"^\s*(?://|#)\s*TODO(?! \d+: open end)", re.M)
# By a word of a file that uses it: what PyTorch imports at its first call, most of a second in each player.
IMPORTED_LATE = {
    "custom_op": ("torch._inductor.pattern_matcher", "torch.testing._internal.optests"),
    "torch.profiler": ("torch._inductor",),
}
# What another file that is judged on the same GPU may be the cause of: it can fill or occupy it.
OF_OTHERS = {Status.TIMEOUT, Status.OUT_OF_MEMORY, Status.CUDA_ERROR, Status.CRASHED, Status.NOT_GRADABLE}
READING_S = 5.0  # for what is only said about a text


def check(job: Job) -> Outcome:
    """Grade one submission. Only BadInputError and errors of a toolchain are raised."""
    begun = time.monotonic()
    sandbox.require(job.options.sandbox)
    advice = _looked(job)
    stages = {"look": time.monotonic() - begun}
    if (syntax := job.submission.syntax_error()) is not None:
        record = _unread(job, syntax)
        _search(job, record, None)
        return Outcome(_verdict(job, record, stages, begun, None), advice, [])
    _warn_of_sandbox(job)
    with Processes(_with_tools(job)) as running:
        job = running.job
        measured = _judged(running, stages, begun)
        record, builder = running.session.record, running.builder
    verdict = _verdict(job, record, stages | record.stages, begun, measured)
    return Outcome(verdict, _beside(verdict, advice), builder.builds, builder.requests)


def check_among_others(job: Job) -> Outcome:
    """Grade one submission while others are graded on the same GPU.

    What another one may be the cause of counts only if it is seen again where the GPU has no other work: a
    kernel without an end keeps a call of everybody else's from its result for as long as it runs.
    """
    outcome = check(job)
    disturbed = job.choice.name == "cuda" and OF_OTHERS & {f.status for f in outcome.verdict.findings}
    return check(replace(job, alone=True)) if disturbed else outcome


def judged_elsewhere(job: Job, verdict: Verdict) -> Outcome:
    """The outcome of a grading on another machine: its verdict, and the advice on the text as it is here."""
    return Outcome(verdict, _beside(verdict, _looked(job)), [])


def _beside(verdict: Verdict, advice: list[Advice]) -> list[Advice]:
    """The advice that stands beside a verdict."""
    return [replace(a, message=visible(a.message)) for a in stream_check.advised(verdict.findings, advice)]


def _looked(job: Job) -> list[Advice]:
    """Advice on the text; none where looking takes too long."""
    place = job.reference.with_name("exercise.py")
    starter = place.read_text("utf-8") if place.is_file() else ""
    try:
        return within(READING_S, lambda: look(job.submission, job.task, starter))
    except TooMuchError as error:
        return [Advice(1, f"This file was not looked through: {error}.")]


def _judged(running: Processes, stages: dict[str, float], begun: float) -> Speed | None:
    """Play and judge, then measure; the speed. What is found goes to the session's record."""
    job, session = running.job, running.session
    record, measured = session.record, None
    try:
        running.expect_race()
        with running.turn():
            grading.grade(session)
        for built in running.builder.builds:
            record.stages |= {f"build: {step}": seconds for step, seconds in built.steps.items()}
        record.warned = running.builder.warned
        job.tell("judged", _verdict(job, record, stages | record.stages, begun, None))
        # What only the other back end can judge is open: it keeps nobody from a speed.
        if wants_speed(job) and all(f.ok or f.status in PENDING for f in record.findings):
            with running.clock():
                timed = time.monotonic()
                measured = _timed(job, session)
            record.stages["speed"] = time.monotonic() - timed
        _search(job, record, session.reference)
    except FaultError as fault:
        record.findings = [fault.finding("reference", job.task.max_points)]
    return measured


class Processes:
    """Everything that runs for one grading. Leaving the block ends it."""

    def __init__(self, job: Job) -> None:
        self.job, self.builder = job, _builder(job)
        cuda = job.choice.name == "cuda"
        self._env = cache.extensions(job.submission.source) if cuda else {}
        # Both processes import torch at the same time; that is most of what an unchanged file costs.
        kind = "cuda" if cuda else "cpu"
        answering = bool(job.task.cases or job.task.reference_entry)
        sees = (job.reference, *job.reference_beside) if answering else ()
        parent = job.forkservers.get("reference") or job.forkservers.get(kind)
        _load_ahead(job)
        self.pool = job.pools.connect(4 if wants_speed(job) else 2) if job.pools else None
        mode = job.options.sandbox

        def new() -> Player:
            return Player(kind, job.limits, sees=sees, mode=mode, forkserver=parent, pool=self.pool)

        # With other files beside it, it would have to be known whether one of them has changed.
        self._keeps = None if parent or job.reference_beside else job.references
        self._key = kept_reference.key(kind, mode, job.limits, sees)
        self._reference = self._keeps.take(self._key, new) if self._keeps else new()
        self._inspection = inspection = _inspection(job)
        self.turns = GpuTurns(job.say) if cuda else None
        self._peers = PeerProcesses(job, self._start, self.builder, self.pool)
        self.session = Session(
            job.task,
            str(job.submission.path),
            self._start,
            Reference(self._reference, str(job.reference)),
            job.pose,
            student=job.options.student,
            folders=tuple(job.folders),
            schedules=1 if cuda else job.options.schedules,
            inspect=self.inspected if inspection else None,
            known_clean=inspection.known if inspection else "",
            on_cpu=functools.cache(self._on_cpu) if cuda else None,
            loaded=self._loaded,
            twin=self._peers.twin,
            solution=self._peers.solution,
            clock=self._part_clock,
            share_gpu=self.share_gpu,
        )
        job.reins(self._abandon)

    def __enter__(self) -> Processes:
        return self

    def expect_race(self) -> None:
        """Start the processes of a race that will be run if the file is right, where that is known by now."""
        if self.job.choice.name == "cuda" and not self.job.forkservers and wants_speed(self.job):
            self._peers.begin(_pairs_expected(self.job))

    def __exit__(self, fault: object = None, *_: object) -> None:
        self.session.close()
        if self._inspection:
            self._inspection.stop()
        if self._keeps and not fault:
            self._keeps.give_back(self._key, self._reference)
        else:
            self._reference.stop()
        self._peers.stop()
        if self.pool:
            self.pool.close()
        if self.turns:
            self.turns.close()

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """While a file is judged: it shares the GPU whenever it is about to use it, or has it for itself."""
        if self.turns is None:
            yield
        elif self.job.alone:
            with self.turns.alone():
                yield
        else:
            try:
                yield
            finally:
                self.turns.leave()

    def share_gpu(self) -> None:
        """Before the GPU is used: waits for the race of another grading. May be called twice."""
        if self.turns and not self.job.alone:
            self.turns.share()

    def inspected(self) -> list[MemoryFinding]:
        """What the tools have found. They share the GPU on their own account; who waits need not."""
        assert self._inspection
        if self.turns and not self.job.alone:
            self.turns.leave()
        return self._inspection.findings()

    @contextlib.contextmanager
    def clock(self) -> Iterator[None]:
        """While a speed is found: no player starts, and no other grading uses the GPU."""
        with self.turns.alone() if self.turns and self.job.races else contextlib.nullcontext(), self._quiet():
            yield

    @contextlib.contextmanager
    def _part_clock(self) -> Iterator[None]:
        """The same for a part that rests on the clock; a grading that shares the GPU shares it no longer."""
        turns = None if self.job.alone else self.turns
        with turns.alone() if turns else contextlib.nullcontext(), self._quiet():
            yield

    def _quiet(self) -> contextlib.AbstractContextManager[None]:
        return self.pool.quiet() if self.pool else contextlib.nullcontext()

    def _start(self) -> Player:
        job = self.job
        return Player(
            job.choice.name, job.limits, sees=(job.submission.path, *job.beside),
            writes=tuple(Path(folder) for folder in self._env.values()), build=self.builder, env=self._env,
            mode=job.options.sandbox, forkserver=job.forkservers.get(job.choice.name), pool=self.pool,
        )  # fmt: skip

    def _loaded(self) -> None:
        if self._inspection:
            self._inspection.allow()
        self.job.tell("loaded", None)

    def _on_cpu(self) -> dict[str, Finding] | str:
        job = self.job
        mode, student = job.options.sandbox, job.options.student
        return cpu_environment.findings(job.lesson, job.submission.path, mode, student)

    def _abandon(self) -> None:
        """From another thread: kill all of it."""
        self.session.abandon()
        self._reference.kill()
        self._peers.kill()


def _load_ahead(job: Job) -> None:
    """What players would import one after another is imported once, by the parent that forks them."""
    if parent := job.forkservers.get(job.choice.name):
        for word, modules in IMPORTED_LATE.items():
            if word in job.submission.source:
                parent.load(*modules)


@functools.cache
def _times_said(_notice: str) -> itertools.count[int]:
    return itertools.count()


def _warn_of_sandbox(job: Job) -> None:
    """What the sandbox lacks here; once, since this process may grade many files."""
    if (lacking := sandbox.notice(job.options.sandbox)) and not next(_times_said(lacking)):
        job.say(lacking)


def _builder(job: Job) -> builder.SimtBuilder | CudaBuilder:
    """What compiles for the submission's players, made ready."""
    ordinary = job.options.build == "ordinary"
    if job.choice.name == "simt":
        builder.prepare(job.say)
    elif not ordinary:
        from grader.referee import cuda_builder  # what a GPU needs is loaded for a GPU

        cuda_builder.prepare(job.say)
    seconds, mode = job.limits.build, job.options.sandbox
    return builder.for_backend(job.choice.name, seconds, mode, ordinary=ordinary, say=job.say)


def _with_tools(job: Job) -> Job:
    """The job without points for memory where nothing here could look at it."""
    if job.choice.name != "cuda" or not job.task.memory_points or sanitizer.tool():
        return job
    job.say("compute-sanitizer is not installed: memory is not checked; --backend simt checks it.")
    return replace(job, task=replace(job.task, memory_points=0))


def _inspection(job: Job) -> Inspection | None:
    """On a GPU compute-sanitizer looks at memory; the CPU back end sees it during the cases."""
    if job.choice.name != "cuda" or not job.task.memory_points:
        return None
    subject = sanitizer.Subject(job.task, str(job.submission.path), job.submission.source, job.limits)
    turns = None if job.alone else functools.partial(GpuTurns, lambda _: None)
    return Inspection(subject, keep=not job.beside, turns=turns)


def wants_speed(job: Job) -> bool:
    """Whether a speed is asked for: a measured one, or where there is no GPU one that is predicted."""
    asked = job.options.with_speed or (job.options.with_prediction and job.choice.name != "cuda")
    return asked and bool(job.task.speed or job.timer)


def _pairs_expected(job: Job) -> int:
    """Pairs of processes that a race of this file will need for certain, as soon as the file is right."""
    from grader.referee.timing import expected  # which only a race needs

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return expected.pairs(job.task.speed, detect.gpu_name(), cores) if job.task.speed else 0


def _timed(job: Job, session: Session) -> Speed | None:
    """The speed; a submission that is right until it is timed loses its points."""
    try:
        if job.timer:
            return job.timer(session)
        from grader.referee.timing import task_speed  # not needed, and not loaded, before a file is right

        return task_speed.speed_of(
            session, job.task, job.choice.name, job.options.baselines, job.options.card
        )
    except FaultError as fault:
        session.forfeit()
        session.record.findings.append(fault.finding("speed"))
        return None


def warm(job: Job) -> Job:
    """The same job with players that are there sooner: for many of the course's own files in a row.

    On a GPU they wait. Without one they are forked: then they confine themselves but have no namespaces.
    """
    if job.choice.name == "cuda":
        return waiting(job)
    if job.choice.name == "simt":
        builder.prepare(job.say)
    return replace(job, forkservers=forkserver.shared(job.choice.name))


def waiting(job: Job, ahead: int = 1) -> Job:
    """The same job with players that wait in pools of this process, where that pays: for many files.

    ``ahead``: for how many of them players wait, where cores are many. Pools that several processes share
    are used as they are.
    """
    if not pool_client.pays(job.choice.name):
        return job
    ahead = ahead if pool_client.at_once() else 1
    pools = pool_client.lent() or replace(pool_client.own(), ahead=ahead)
    return replace(job, pools=pools, references=kept_reference.own())


def warm_reference(job: Job) -> Job:
    """The same job with a forked player for the reference only, which is trusted: for many files in a row."""
    if job.choice.name == "cuda":
        return job
    if job.choice.name == "simt":
        builder.prepare(job.say)
    return replace(job, forkservers={"reference": forkserver.shared(job.choice.name)["cpu"]})


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
    if job.task.stream_points:
        findings.append(Finding(stream_check.NAME, Status.NOT_RUN, "", 0, job.task.stream_points))
    if job.task.memory_points:
        findings.append(Finding("memory", Status.NOT_RUN, "", 0, job.task.memory_points))
    for part in job.task.parts:
        findings += parts.not_run(part)
    return Record(findings=findings)


def _explained(job: Job, record: Record) -> list[Finding]:
    """The findings, each with its cause where that is known; the same ones are explained once."""
    if all(finding.ok for finding in record.findings):
        return record.findings
    before, known = record.explained
    if len(before) == len(record.findings) and all(map(operator.is_, before, record.findings)):
        return known
    from grader.feedback.explain.attach import explained  # a quarter of a second, of no use to a right file

    source, findings = job.submission.source, record.findings

    def explain() -> list[Finding]:
        return [
            explained(f, source, record.warned) for f in functions_first.marked(findings, job.task, source)
        ]

    try:
        known = within(READING_S, explain)
    except TooMuchError:
        known = findings
    record.explained = (list(findings), known)
    return known


def _search(job: Job, record: Record, reference: Reference | None) -> None:
    """Where no rule knows why the first check failed: the one change that would fix it, in the record.

    Not while a TODO stands in the file: there the change would be the exercise.
    """
    if not job.rights or job.choice.name != "simt" or _to_do(job.submission.source, job.rights[0]):
        return
    begun = time.monotonic()
    verdict = _verdict(job, record, {}, 0.0, None)
    found = verdict.failed
    if not found:
        return
    from grader.referee import nearest  # a tenth of a second

    if nearest.wanted(found[0]):
        job.tell("search", verdict)
        job.say("Looking for the one change that would fix it ...")
        source, name = job.submission.source, job.submission.path.name
        every = [*found, *(f for f in verdict.findings if f not in found)]
        change = nearest.search(source, name, job.rights, every, job.task, reference, _copies(job))
        record.nearest = {"id": found[0].id, "explanation": change.as_json()} if change else None
        if change is None:
            job.say("... and none was found.")
    record.stages["nearest"] = time.monotonic() - begun


def _to_do(source: str, right: str) -> bool:
    """Whether a TODO has a line of its own there, or all lines with one stand as in the starter.

    The right file keeps the starter's lines as comments.
    """
    marked = re.findall(r"^\s*(?:#|//) starter: \s*(\S.*\bTODO \d+:.*)$", right, re.M)
    own = {line.strip() for line in source.splitlines()}
    untouched = bool(marked) and own.issuperset(line.strip() for line in marked)
    return untouched or TODO.search(source) is not None


def _copies(job: Job) -> Callable[[Path], Player]:
    """Starts players for copies of the submission."""

    from grader.referee import nearest

    def start(path: Path) -> Player:
        mode = job.options.sandbox
        build = builder.SimtBuilder(nearest.LIMITS.build, mode)
        parent = job.forkservers.get("simt") or nearest.shared_forkserver()
        return Player("simt", nearest.LIMITS, sees=(path,), build=build, mode=mode, forkserver=parent)

    return start


def _visible(finding: Finding) -> Finding:
    """The finding without characters that change how its text is read."""
    return replace(finding, message=visible(finding.message), evidence=all_visible(finding.evidence))


def _verdict(
    job: Job, record: Record, stages: dict[str, float], begun: float, measured: Speed | None
) -> Verdict:
    versions = messages.plain(record.facts)
    known = all_visible(record.nearest or {})
    return Verdict(
        lesson=job.lesson,
        submission=job.submission.name,
        backend=job.choice.name,
        device=versions.pop("device", "unknown"),
        findings=tuple(
            replace(f, evidence=f.evidence | {"explanation": known["explanation"]})
            if f.id == known.get("id")
            else f
            for f in map(_visible, _explained(job, record))
        ),
        seconds=time.monotonic() - begun,
        stages=stages,
        speed=measured,
        output=visible(record.output),
        versions=versions,
        exercise_stages=job.task.stages,
    )
