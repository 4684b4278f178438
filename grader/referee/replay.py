"""Play a case of a submission, or all until one fails, and have the CPU back end record the launch in question.

Nothing is graded here. The inputs come from a fixed seed, so that a replay is the same each time.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from grader.domain.errors import BadInputError
from grader.domain.recording import (
    ACCESSES,
    COLUMNS,
    ENTERS,
    EVENT,
    FOUND,
    MORE,
    Block,
    Head,
    Launch,
    Object,
    Place,
    Recording,
    Seen,
    Source,
    labelled,
)
from grader.domain.task import Case
from grader.domain.verdict import Finding, Status
from grader.feedback import memory, shared_arrays
from grader.protocol import messages
from grader.protocol.recorded import Answer, Asked, Recorded
from grader.referee.case_calls import Calls
from grader.referee.fault import FaultError
from grader.referee.pipeline import Processes
from grader.referee.problem import LeftOutError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.domain.recording import Column
    from grader.protocol.messages import MemoryFinding, Xyz
    from grader.referee.job import Job
    from grader.referee.session import Session

SEED = 20_240_607  # of inputs and weights
LARGEST_SOURCE = 400_000
SCHEDULES = 32  # orders that are tried for one whose result differs
SECONDS = 20.0


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
        self._fresh = True

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
        parts = [part.case for part in task.parts if isinstance(getattr(part, "case", None), Case)]
        every = [case for case in (*task.cases, *parts) if not case.hidden]
        found = [case for case in every if not name or case.name == name]
        if not found:
            known = ", ".join(repr(case.name) for case in every) or "none: this lesson has no kernels to call"
            raise BadInputError(f"There is no case {name!r}. The cases of this file: {known}.")
        return found

    def record(self, wanted: Wanted) -> Recording:
        """The recording that was asked for."""
        first = Asked("", -1 if wanted.launch is None else wanted.launch,
                      (wanted.block,) if wanted.block else (), wanted.neighbours, wanted.most)  # fmt: skip
        for number, case in enumerate(cases := self.cases(wanted.case)):
            played = self._play(case, first if number == 0 else None, wanted.schedule)
            if played.failed or memory.errors(played.seen):
                break
        else:
            played, number = (played, 0) if len(cases) == 1 else (Played(cases[0], None), 0)
        asked = self._asked_for(played, wanted)
        kept = self._kept() if number == 0 and self._covers(asked, first) else None
        if kept is None:
            played = self._again(played.case, asked, wanted.schedule)
            kept = self._kept()
        if kept is None:
            raise BadInputError(self._why_nothing(played, wanted))
        return _Reading(*kept, played, self._job, self._sources()).recording(_title(self._job, played))

    def differing(self, wanted: Wanted) -> tuple[Recording, Recording | None, int]:
        """The recording in the usual order, that of the first order whose result differs, and its number."""
        usual = self.record(replace(wanted, schedule=0))
        case, block = usual.head.case, wanted.block or usual.head.blocks[0].index
        launch = usual.head.launch
        asked = Asked(launch.kernel, launch.fitting, (block,), wanted.neighbours, wanted.most)
        for number in range(1, SCHEDULES + 1):
            (one,) = self.cases(case)[:1]
            played = self._again(one, asked, number)
            if kept := self._kept():
                other = _Reading(*kept, played, self._job, self._sources()).recording(
                    _title(self._job, played)
                )
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
        if wanted.launch is None and (errors := memory.errors(played.seen)):
            kernel = errors[0].kernel
            found = [errors[0].block, errors[0].other.block if errors[0].other else None]
            blocks = blocks or [b for b in dict.fromkeys(found) if b]
        elif wanted.launch is None and played.failed:
            owner = played.failed.evidence.get("owner")
            if isinstance(owner, dict) and not blocks:
                kernel, blocks = str(owner["kernel"]), [tuple(owner["block"])]
        return Asked(kernel, launch, tuple(blocks), wanted.neighbours, wanted.most)

    def _again(self, case: Case, asked: Asked, schedule: int) -> Played:
        """In a new process, so that nothing of what ran before matters."""
        session = self._session
        session.pardon()
        session.rest()
        session.revive()
        return self._play(case, asked, schedule)

    def _play(self, case: Case, asked: Asked | None, schedule: int) -> Played:
        session = self._session
        session.pardon()
        session.begin(case)
        session.record.memory.clear()
        session.rng = session.problem.rng = np.random.default_rng(SEED)
        failed: Finding | None = None
        try:
            session.revive()
            if schedule:
                session.ask("schedule", seed=schedule)
            if asked:
                wanted = msgspec.to_builtins(asked)
                session.ask("command", command="recorded", act="begin", asked=wanted)
            calls = Calls(session, case)
            # Every round of a case that fails is of interest; of one that is right only the first.
            failed = calls.play(itertools.islice(session.problem.rounds(case), None))
        except FaultError as fault:
            seen, fault.seen = fault.seen, ()
            session.observe(seen)
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
            answer = session.player.ask("command", SECONDS, command="recorded", act="head")
            head = messages.decode(answer.data, Answer).recorded
            if head is None:
                return None
            nbytes = head.events * EVENT.itemsize + head.content_bytes
            session.player.outbox.reach(max(1, nbytes))
            session.player.ask("command", SECONDS, command="recorded", act="data")
            return head, bytes(session.player.outbox.map[:nbytes])
        except FaultError:
            session.drop()
            return None

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
        return f"No kernel was launched in the case {played.case.name!r}, so there is nothing to replay.{said}"


def _title(job: Job, played: Played) -> str:
    return f"{job.lesson or job.submission.path.name}: {played.case.name}"


def outcome(recording: Recording) -> tuple[object, ...]:
    """What a launch left: kinds of findings, and the bytes of each tensor that was kept."""
    kinds = tuple(sorted({f.kind for f in recording.head.findings}))
    left = [
        (one.name, recording.contents[one.after : one.after + 2 * one.bytes])
        for one in recording.head.objects
        if one.after >= 0
    ]
    return (kinds, *left)


class _Reading:
    """Turns what a player tells into a recording. What is impossible is refused: it is a claim."""

    def __init__(
        self, said: Recorded, data: bytes, played: Played, job: Job, sources: dict[str, Source]
    ) -> None:
        self.said, self.played, self.job, self.sources = said, played, job, sources
        self.events = np.frombuffer(data, EVENT, said.events)
        self.contents = data[said.events * EVENT.itemsize :]
        self._pcs = {pc: number for number, (pc, _, _) in enumerate(said.places)}

    def recording(self, title: str) -> Recording:
        said = self.said
        self._check()
        events, places = self._thinned()
        columns = {name: events[name] for name in COLUMNS if name != "place"}
        columns["place"] = places
        columns = {name: columns[name].astype(kind) for name, kind in COLUMNS.items()}
        findings = self._findings(columns)
        launch = Launch(
            said.kernel, said.launch, said.fitting, _name(said.file), said.line, said.grid, said.block,
            said.shared_bytes + said.static_shared_bytes, said.schedule,
        )  # fmt: skip
        used = {_name(file) for _, file, _ in said.places}
        head = Head(
            title,
            self.job.lesson,
            self.played.case.name,
            self.job.submission.path.name,
            str(self.played.failed.status if self.played.failed else Status.PASSED),
            launch,
            tuple(Block(self._xyz(b.flat, said.grid), bool(b.asked), bool(b.cut), b.events)
                  for b in said.blocks),
            self._objects(),
            (*(Place(_name(file), line) for _, file, line in said.places), Place("", 0)),
            tuple(source for name, source in self.sources.items() if name in used),
            findings,
        )  # fmt: skip
        return Recording(head, columns, self.contents)

    def _check(self) -> None:
        said, events = self.said, self.events
        threads = int(np.prod(said.block, dtype=np.int64))
        total = int(np.prod(said.grid, dtype=np.float64))
        wrong = (
            not 1 <= len(said.blocks) <= 200
            or len(said.places) > 60_000
            or not 1 <= threads <= 1024
            or any(b.flat >= total for b in said.blocks)
            or any(not _inside(o.before, o.bytes, self.contents) for o in said.objects)
            or any(not _inside(o.after, o.bytes, self.contents) for o in said.objects)
        )
        if len(events) and not wrong:
            wrong = bool(
                (events["block"] >= len(said.blocks)).any()
                or (events["thread"] >= threads).any()
                or (events["object"] >= len(said.objects)).any()
                or (events["op"] > 15).any()
            )
        if wrong:
            raise FaultError(Status.TAMPERED, "The process told of a recording that cannot be.", dead=True)

    def _thinned(self) -> tuple[Column, Column]:
        """Without basic blocks that begin on the line where their thread was already; places as indices."""
        events = self.events
        pcs = np.array(sorted(self._pcs) or [0], np.uint32)
        index = np.array([self._pcs[pc] for pc in sorted(self._pcs)] or [0], np.int64)
        at = np.searchsorted(pcs, events["pc"]).clip(0, len(pcs) - 1)
        nowhere = len(self.said.places)
        places = np.where(pcs[at] == events["pc"], index[at], nowhere) if self._pcs else at * 0
        lines = np.array([line for _, _, line in self.said.places] + [0])[places]
        who = events["block"].astype(np.int64) * 1024 + events["thread"]
        order = np.argsort(who, kind="stable")
        same = np.zeros(len(events), bool)
        if len(events) > 1:
            ordered, owner = lines[order], who[order]
            same[order[1:]] = (owner[1:] == owner[:-1]) & (ordered[1:] == ordered[:-1])
        enters = events["op"] == ENTERS
        kept = ~(enters & (same | (lines == 0)))
        return events[kept], places[kept]

    def _xyz(self, flat: int, extent: Sequence[int]) -> Xyz:
        x, y, _ = (max(1, n) for n in extent)
        return flat % x, flat // x % y, flat // x // y

    def _objects(self) -> tuple[Object, ...]:
        arrays = shared_arrays.declared(source.text for source in self.sources.values())
        found = []
        for one in self.said.objects:
            dtype, shape = labelled(one.label)
            kind = one.kind if one.kind in ("tensor", "shared", "device", "local") else "device"
            if kind in ("shared", "device"):
                dtype, shape = arrays.get(one.name, (dtype, shape))
            element = one.element
            if dtype:
                element = {"float64": 8, "int64": 8, "uint64": 8, "float16": 2, "bfloat16": 2, "int16": 2,
                           "int8": 1, "uint8": 1, "bool": 1}.get(dtype, 4)  # fmt: skip
            known = int(np.prod(shape, dtype=np.float64)) * element == one.bytes
            shape = shape if known and shape else (one.bytes // max(1, element),)
            found.append(
                Object(kind, one.name or one.label, dtype, shape, one.bytes, element, one.before, one.after)  # type: ignore[arg-type]
            )
        return tuple(found)

    def _findings(self, columns: dict[str, Column]) -> tuple[Seen, ...]:
        best: dict[tuple[object, ...], Seen] = {}
        for event in np.flatnonzero(columns["op"] == FOUND).tolist():
            number = int(columns["value"][event])
            if number >= len(self.said.seen):
                continue
            one = self._finding(event, number, columns)
            key = (one.kind, frozenset((one.line, one.other_line)) if one.other_line else one.line)
            # The verdict's own, where it is among them: a race is told from the side of its reader.
            if key not in best or (self._exact(one) and not self._exact(best[key])):
                best[key] = one
        found = [one for one in best.values() if one.message] or list(best.values())
        if not found and self.played.failed and (one := self._wrong_element(columns)):
            found.append(one)
        order = [f.kind for f in memory.errors(self.played.seen)]
        return tuple(sorted(found, key=lambda f: order.index(f.kind) if f.kind in order else len(order)))

    def _finding(self, event: int, number: int, columns: dict[str, Column]) -> Seen:
        raw = self.said.seen[number]
        thread, block = int(columns["thread"][event]), int(columns["block"][event])
        access = event - 1
        while access > 0 and columns["op"][access] == MORE:
            access -= 1
        mine = columns["op"][access] in ACCESSES and columns["thread"][access] == thread
        if not (mine and columns["block"][access] == block):
            access = -1
        other, other_line = -1, 0
        if raw.other_block is not None:
            place = self._pcs.get(raw.other_pc, len(self.said.places))
            other_line = self._line(place)
            other = self._other(columns, event, access, raw.other_block, raw.other_thread, place)
        line = self._line(int(columns["place"][event]))
        at = self._xyz(self.said.blocks[block].flat, self.said.grid), self._xyz(thread, self.said.block)
        message, what = self._told(raw.kind, line, at, other_line)
        return Seen(
            raw.kind, event, access, other, what, message, *at, line, raw.other_block,
            self._xyz(raw.other_thread, self.said.block) if raw.other_block is not None else None, other_line,
        )  # fmt: skip

    def _exact(self, one: Seen) -> bool:
        """Whether the verdict tells of this very access."""
        return any(
            (f.kind, f.line, f.block, f.thread) == (one.kind, one.line, one.block, one.thread)
            for f in self.played.seen
        )

    def _line(self, place: int) -> int:
        return self.said.places[place][2] if place < len(self.said.places) else 0

    def _other(
        self, columns: dict[str, Column], event: int, access: int, block: Xyz, thread: int, place: int
    ) -> int:
        """The other side of a race: the last access before by that thread, at that place, of that object."""
        flats = [self._xyz(b.flat, self.said.grid) for b in self.said.blocks]
        if block not in flats:
            return -1
        where = (columns["block"][:event] == flats.index(block)) & (columns["thread"][:event] == thread)
        where &= columns["place"][:event] == place
        if access >= 0:
            where &= columns["object"][:event] == columns["object"][access]
            reach = int(columns["offset"][access]) + int(columns["size"][access])
            start = columns["offset"][:event].astype(np.int64)
            overlaps = (start < reach) & (start + columns["size"][:event] > columns["offset"][access])
            where = where & overlaps if (where & overlaps).any() else where
        hits = np.flatnonzero(where)
        return int(hits[-1]) if len(hits) else -1

    def _told(self, kind: str, line: int, at: tuple[Xyz, Xyz], other_line: int) -> tuple[str, str]:
        """The verdict's sentences on it; a race is told from the side of its reader."""
        for f in self.played.seen:
            sides = {f.line or 0, f.other.line if f.other else 0}
            if f.kind == kind and (f.line == line or (other_line and {line, other_line} == sides)):
                exact = (f.block, f.thread) == at
                return memory.describe(f), f.what if exact else kind.replace("-", " ")
        return "", kind.replace("-", " ")

    def _wrong_element(self, columns: dict[str, Column]) -> Seen | None:
        """A case with a wrong result: the last write of the element that the verdict names."""
        assert self.played.failed is not None
        failed = self.played.failed
        owner = failed.evidence.get("owner")
        if not isinstance(owner, dict):
            return None
        block, thread = tuple(owner["block"]), tuple(owner["thread"])
        flats = [self._xyz(b.flat, self.said.grid) for b in self.said.blocks]
        x, y, _ = self.said.block
        number = (thread[2] * y + thread[1]) * x + thread[0]
        if block not in flats:
            return None
        lines = np.array([line for _, _, line in self.said.places] + [0])[columns["place"]]
        hits = np.flatnonzero(
            (columns["block"] == flats.index(block)) & (columns["thread"] == number)
            & (columns["op"] != ENTERS) & np.isin(columns["op"], ACCESSES) & (lines == owner["line"])
        )  # fmt: skip
        if not len(hits):
            return None
        at = int(hits[-1])
        return Seen("wrong-result", at, at, -1, "the element that is wrong was written here",
                    failed.message, block, thread, int(owner["line"]))  # fmt: skip


def _inside(at: int, nbytes: int, contents: bytes) -> bool:
    return at == -1 or (at >= 0 and at + 2 * nbytes <= len(contents))


def _name(file: str) -> str:
    return file.rsplit("/", 1)[-1]


def recorded(job: Job, wanted: Wanted, say: Callable[[str], None] = lambda _: None) -> Recording:
    """One recording of a file."""
    with Replay(replace(job, say=say)) as replay:
        return replay.record(wanted)
