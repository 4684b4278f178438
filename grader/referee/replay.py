"""Play a case, or all until one fails, and have the CPU back end record the launch in question.

Nothing is graded here. The inputs come from a fixed seed, so that a replay is the same each time.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from grader.domain.errors import BadInputError
from grader.domain.task import Case
from grader.domain.thread_recording import EVENT, Recording, Source
from grader.feedback import memory
from grader.protocol import messages
from grader.protocol.recorded_launch import Answer, Asked, Recorded
from grader.protocol.wire import MalformedError
from grader.referee import wrong_element
from grader.referee.case_calls import Calls
from grader.referee.fault import FaultError
from grader.referee.pipeline import Processes
from grader.referee.problem import LeftOutError
from grader.referee.replay_reading import About, Reading

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.domain.verdict import Finding
    from grader.protocol.messages import MemoryFinding, Xyz
    from grader.referee.job import Job
    from grader.referee.session import Session

SEED = 20_240_607  # of inputs and weights
LARGEST_SOURCE = 400_000
SCHEDULES = 32  # orders that are tried for one whose result differs
SECONDS = 20.0
TOLD = 2  # kinds of findings of which both sides are recorded
LAUNCHES = 4  # that are looked through for the one with the tensor that is wrong


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which launch to record. ``block`` None: that of the finding, else the first; ``launch``: the n-th."""

    case: str = ""
    block: Xyz | None = None
    launch: int | None = None
    schedule: int = 0
    neighbours: bool = True
    most: int = 1_000_000


@dataclass(slots=True)
class Played:
    """What came of a case."""

    case: Case
    failed: Finding | None
    seen: list[MemoryFinding] = field(default_factory=list)


class Replay:
    """The processes of a submission, which can be asked for recordings. Leaving the block ends them."""

    def __init__(self, job: Job) -> None:
        if job.choice.name != "simt":
            raise BadInputError("Only the CPU back end records what threads do: add --backend simt.")
        self._job = replace(job, rights=())
        self._running = Processes(self._job)
        self._running.builder.variant = "recorded"  # type: ignore[union-attr]
        self._faulted = False
        self._asked = Asked()

    def __enter__(self) -> Replay:
        self._running.__enter__()
        session = self._session
        try:
            assert session.player is not None
            session.record.facts = session.player.ready()
            session.load()
            if error := session.player.compile_error:
                raise error
            session.problem.open()
        except FaultError as fault:
            self._running.__exit__()
            raise BadInputError(f"There is nothing to replay: {fault.message}") from fault
        return self

    def __exit__(self, *_: object) -> None:
        self._running.__exit__()

    @property
    def _session(self) -> Session:
        return self._running.session

    def cases(self, name: str = "") -> list[Case]:
        """The cases that can be played, or those with this name; BadInputError if there is none."""
        task = self._job.task
        parts = [getattr(part, "case", None) for part in task.parts]
        every = [case for case in (*task.cases, *parts) if isinstance(case, Case) and not case.hidden]
        found = [
            replace(case, args=args, others=())
            for case in every if not name or case.name == name
            for args in (case.args, *case.others)
        ]  # fmt: skip
        if not found:
            known = ", ".join(repr(case.name) for case in every) or "none: this lesson has no kernels to call"
            raise BadInputError(f"There is no case {name!r}. The cases of this file: {known}.")
        return found

    def record(self, wanted: Wanted) -> Recording:
        """The recording that was asked for."""
        first = Asked("", -1 if wanted.launch is None else wanted.launch,
                      (wanted.block,) if wanted.block else (), wanted.neighbours, wanted.most)  # fmt: skip
        cases = self.cases(wanted.case)
        failed: list[tuple[int, Played]] = []
        played_last = 0
        for number, case in enumerate(cases):
            played_last = number
            played = self._play(case, first if number == 0 else None, wanted.schedule)
            if _in_a_kernel(played):
                break
            if played.failed:
                failed.append((number, played))
        else:  # no thread did anything wrong to memory: a result that is, or else the first case
            # Before all others those whose kernels were launched, and left or wrote what is wrong.
            failed.sort(key=lambda one: not memory.errors(one[1].seen) and not _wrong_result(one[1]))
            number, played = (failed or [(0, played if len(cases) == 1 else Played(cases[0], None))])[0]
        asked = self._asked_for(played, wanted)
        # The first case was recorded; what was played after it is in that recording as well.
        kept = self._kept() if played_last == 0 and self._covers(asked, first) else None
        if kept is None:
            played = self._again(played.case, asked, wanted.schedule)
            kept = self._kept()
        if kept is None:
            raise BadInputError(self._why_nothing(played, wanted))
        return self._nearer(self._read(kept, played), played, wanted)

    def _nearer(self, recording: Recording, played: Played, wanted: Wanted) -> Recording:
        """Where nothing that was recorded wrote the wrong element: the launch and blocks nearest to it."""
        if wanted.launch is not None or _in_a_kernel(played) or played.failed is None:
            return recording
        asked, fitting = self._asked, recording.head.launch.fitting
        if "first_wrong" not in played.failed.evidence:
            return recording
        best = recording
        for launch in range(fitting, fitting + LAUNCHES):
            if best.head.findings:
                break
            again = self._again(
                played.case, msgspec.structs.replace(asked, launch=launch + 1), wanted.schedule
            )
            if (kept := self._kept()) is None:
                break
            best = self._read(kept, again)
        seen = next(iter(best.head.findings), None)
        if seen is None:  # no launch has the tensor that was returned
            return recording
        if wanted.block or seen.object < 0 or seen.access >= 0:
            return best
        block = seen.block or wrong_element.nearest(best.head, seen)
        if block in [each.index for each in best.head.blocks]:
            return best
        near = msgspec.structs.replace(asked, launch=best.head.launch.fitting, blocks=(block,))
        again = self._again(played.case, near, wanted.schedule)
        return self._read(kept, again) if (kept := self._kept()) else best

    def differing(self, wanted: Wanted) -> tuple[Recording, Recording | None, int]:
        """The recording in the usual order, that of the first order whose result differs, and its number."""
        usual = self.record(replace(wanted, schedule=0))
        case, block = usual.head.case, wanted.block or usual.head.blocks[0].index
        # Counted among the launches that fitted then.
        asked = msgspec.structs.replace(self._asked, launch=usual.head.launch.fitting, blocks=(block,))
        for number in range(1, SCHEDULES + 1):
            (one,) = self.cases(case)[:1]
            played = self._again(one, asked, number)
            if kept := self._kept():
                other = self._read(kept, played)
                if outcome(other) != outcome(usual):
                    return usual, other, number
        return usual, None, 0

    def _covers(self, asked: Asked, first: Asked) -> bool:
        """Whether what was recorded in the first case is what is wanted now."""
        return asked.kernel == "" or (asked.blocks in (first.blocks, ((0, 0, 0),)) and asked.launch == -1)

    def _asked_for(self, played: Played, wanted: Wanted) -> Asked:
        launch = -1 if wanted.launch is None else wanted.launch
        blocks = [wanted.block] if wanted.block else []
        kernel = ""
        errors = [f for f in memory.errors(played.seen) if f.block is not None]
        if wanted.launch is None and errors:
            kernel = errors[0].kernel
            kinds = {f.kind: f for f in reversed(errors) if f.kernel == kernel}  # the first of each
            mine = [f for f in errors if kinds.get(f.kind) is f][:TOLD]
            found = [b for f in mine for b in (f.block, f.other.block if f.other else None)]
            blocks = blocks or [b for b in dict.fromkeys(found) if b]
        elif wanted.launch is None and played.failed:
            owner = played.failed.evidence.get("owner")
            if isinstance(owner, dict) and not blocks:
                kernel, blocks = str(owner["kernel"]), [tuple(owner["block"])]
        return Asked(kernel, launch, tuple(blocks), wanted.neighbours, wanted.most)

    def _again(self, case: Case, asked: Asked, schedule: int) -> Played:
        """The same call with the same inputs, this time recorded."""
        return self._play(case, asked, schedule)

    def _play(self, case: Case, asked: Asked | None, schedule: int) -> Played:
        session = self._session
        session.pardon()
        if self._faulted:  # its device does nothing more, as on a GPU
            session.rest()
            self._faulted = False
        session.begin(case)
        session.record.memory.clear()
        session.rng = session.problem.rng = np.random.default_rng(SEED)
        failed: Finding | None = None
        try:
            session.revive()
            session.ask("schedule", seed=schedule)
            if asked:
                self._asked = asked
                wanted = msgspec.to_builtins(asked)
                session.ask("command", command="record_launch", act="begin", asked=wanted)
            failed = Calls(session, case).run()
        except FaultError as fault:
            if fault.evidence.get("reference"):  # nobody can be asked what is right any more
                raise
            seen, fault.seen = fault.seen, ()
            session.observe(seen)
            self._faulted = True
            failed = None if case.expect == "raise" else fault.finding(case.name)
        except LeftOutError:
            pass
        return Played(case, failed, list(session.record.memory))

    def _kept(self) -> tuple[Recorded, bytes] | None:
        """What the player has recorded. Its process may have died of what it did."""
        session = self._session
        if session.player is None:
            return None
        try:
            answer = session.player.ask("command", SECONDS, command="record_launch", act="head")
            head = messages.decode(answer.data, Answer).recorded
            if head is None:
                return None
            nbytes = head.events * EVENT.itemsize + head.content_bytes
            session.player.outbox.reach(max(1, nbytes))
            session.player.ask("command", SECONDS, command="record_launch", act="data")
            return head, bytes(session.player.outbox.map[:nbytes])
        except (FaultError, MalformedError):
            session.drop()
            return None

    def _read(self, kept: tuple[Recorded, bytes], played: Played) -> Recording:
        job, case = self._job, played.case.name
        title = f"{job.lesson or job.submission.path.name}: {case}"
        about = About(
            title, job.lesson, case, job.submission.path.name, played.failed, played.seen, self._sources()
        )
        return Reading(*kept, about).recording()

    def _sources(self) -> dict[str, Source]:
        """By the name that places have: the submission's file, and what it had compiled."""
        texts = {self._job.submission.path.name: self._job.submission.source}
        for request in self._running.builder.requests:
            for name, sources in (("CUDA source", request.cuda_sources), ("C++ source", request.cpp_sources)):
                if sources:
                    texts.setdefault(name, sources[0])
        return {name: Source(name, text[:LARGEST_SOURCE]) for name, text in texts.items()}

    def _why_nothing(self, played: Played, wanted: Wanted) -> str:
        if wanted.launch is not None:
            return f"The case {played.case.name!r} has no launch {wanted.launch}; they count from 0."
        said = f" It ended so: {played.failed.message}" if played.failed else ""
        return f"No kernel was launched in the case {played.case.name!r}: there is nothing to replay.{said}"


def _in_a_kernel(played: Played) -> bool:
    """Whether a thread did something wrong to memory."""
    return any(f.block is not None for f in memory.errors(played.seen))


def _wrong_result(played: Played) -> bool:
    """Whether the call ended, with a result that is wrong."""
    return played.failed is not None and "first_wrong" in played.failed.evidence


def outcome(recording: Recording) -> tuple[object, ...]:
    """What a launch left: kinds of findings, and the bytes of each tensor that was kept."""
    kinds = tuple(sorted({f.kind for f in recording.head.findings}))
    left = [
        (one.name, recording.contents[one.after : one.after + 2 * one.bytes])
        for one in recording.head.objects
        if one.after >= 0
    ]
    return (kinds, *left)


def recorded(job: Job, wanted: Wanted, say: Callable[[str], None] = lambda _: None) -> Recording:
    """One recording of a file."""
    with Replay(replace(job, say=say)) as replay:
        return replay.record(wanted)
