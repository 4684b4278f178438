"""From what a player tells of a launch to a recording: lines, findings and types, and nothing impossible."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from grader.domain.thread_recording import (
    ACCESSES,
    COLUMNS,
    ENTERS,
    EVENT,
    FOUND,
    RELEASES,
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
from grader.domain.verdict import Finding, Status
from grader.feedback import memory, shared_arrays
from grader.protocol.recorded_launch import MOST_PLACES, Recorded
from grader.referee import wrong_element
from grader.referee.fault import FaultError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.domain.thread_recording import Column
    from grader.protocol.messages import MemoryFinding, Xyz


IN_WORDS: tuple[tuple[str, str], ...] = (
    ("race", "touches an element that another thread touches too, and nothing orders the two"),
    ("uninitialised", "reads what no thread has written so far"),
    ("out-of-bounds", "asks for an element that is none"),
    ("barrier", "waits at a barrier that not all threads come to"),
    ("deadlock", "waits for what cannot come"),
    ("overflow", "computes an integer that does not fit"),
)


@dataclass(slots=True)
class About:
    """What a recording is of: the case and how it ended, what the checks saw, and the sources by name."""

    title: str
    lesson: str = ""
    case: str = ""
    submission: str = ""
    failed: Finding | None = None
    seen: list[MemoryFinding] = field(default_factory=list)
    sources: dict[str, Source] = field(default_factory=dict)


class Reading:
    """Turns what a player tells into a recording. What is impossible is refused: it is a claim."""

    def __init__(self, said: Recorded, data: bytes, about: About) -> None:
        self.said, self.about = said, about
        self.events = np.frombuffer(data, EVENT, said.events)
        self.contents = data[said.events * EVENT.itemsize :]
        self._pcs = {pc: number for number, (pc, _, _) in enumerate(said.places)}

    def recording(self) -> Recording:
        """All of it; a FaultError for what cannot be."""
        said = self.said
        self._check()
        events, places = self._thinned()
        columns = {name: events[name] for name in COLUMNS if name != "place"}
        columns["place"] = places
        columns = {name: columns[name].astype(kind) for name, kind in COLUMNS.items()}
        objects = self._objects()
        findings = self._findings(columns, objects)
        launch = Launch(
            said.kernel, said.launch, said.fitting, _name(said.file), said.line, said.grid, said.block,
            said.shared_bytes + said.static_shared_bytes, said.schedule,
        )  # fmt: skip
        used = {_name(file) for _, file, _ in said.places} | {_name(said.file)}
        head = Head(
            self.about.title,
            self.about.lesson,
            self.about.case,
            self.about.submission,
            str(self.about.failed.status if self.about.failed else Status.PASSED),
            launch,
            tuple(Block(self._xyz(b.flat, said.grid), bool(b.asked), bool(b.cut), b.events)
                  for b in said.blocks),
            objects,
            (*(Place(_name(file), line) for _, file, line in said.places), Place("", 0)),
            tuple(source for name, source in self.about.sources.items() if name in used),
            findings,
        )  # fmt: skip
        return Recording(head, columns, self.contents)

    def _check(self) -> None:
        said, events = self.said, self.events
        threads = int(np.prod(said.block, dtype=np.int64))
        total = int(np.prod(said.grid, dtype=np.float64))
        wrong = (
            not 1 <= len(said.blocks) <= 200
            or len(said.places) > MOST_PLACES
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
        arrays = shared_arrays.declared(source.text for source in self.about.sources.values())
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

    def _findings(self, columns: dict[str, Column], objects: tuple[Object, ...]) -> tuple[Seen, ...]:
        """One of each kind and line, the verdict's first; each event of one gets its number as a value."""
        best: dict[tuple[object, ...], Seen] = {}
        keys: dict[int, tuple[object, ...]] = {}
        none = list[int]()
        for event in np.flatnonzero(columns["op"] == FOUND).tolist():
            number = int(columns["value"][event])
            if number >= len(self.said.seen):
                continue
            one = self._finding(event, number, columns)
            if self.said.seen[number].one_barrier and one.line == one.other_line:
                none.append(event)  # one barrier of the source, of which the compiler made two
                continue
            key: tuple[object, ...] = (
                one.kind,
                frozenset((one.line, one.other_line)) if one.other_line else one.line,
            )
            keys[event] = key
            # The verdict's own, where it is among them: a race is told from the side of its reader.
            if key not in best or (self._exact(one) and not self._exact(best[key])):
                best[key] = one
        order = [f.kind for f in memory.errors(self.about.seen)]

        def place(one: Seen) -> tuple[bool, int]:
            return not one.message, order.index(one.kind) if one.kind in order else len(order)

        listed = sorted(best, key=lambda key: place(best[key]))
        for event, key in keys.items():
            columns["value"][event] = listed.index(key)
        found = [best[key] for key in listed]
        if not found and self.about.failed and (wrong := self._wrong_element(columns, objects)):
            found.append(wrong)
        columns["value"][none] = len(found)
        return tuple(found)

    def _finding(self, event: int, number: int, columns: dict[str, Column]) -> Seen:
        raw = self.said.seen[number]
        thread, block = int(columns["thread"][event]), int(columns["block"][event])
        access = self._access(columns, event)
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

    def _access(self, columns: dict[str, Column], event: int) -> int:
        """The access that a finding is about: its thread's last one at the finding's instruction; -1: none.

        Usually the event before; a read that might have been the start of an atomic update is told later.
        """
        same = np.isin(columns["op"][:event], ACCESSES)
        for name in ("block", "thread", "place"):
            same &= columns[name][:event] == columns[name][event]
        hits = np.flatnonzero(same)
        return int(hits[-1]) if len(hits) else -1

    def _exact(self, one: Seen) -> bool:
        """Whether the verdict tells of this very access."""
        return any(
            (f.kind, f.line, f.block, f.thread) == (one.kind, one.line, one.block, one.thread)
            for f in self.about.seen
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
        where &= (columns["place"][:event] == place) & ~np.isin(columns["op"][:event], (RELEASES, FOUND))
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
        for f in self.about.seen:
            sides = {f.line or 0, f.other.line if f.other else 0}
            if f.kind == kind and (f.line == line or (other_line and {line, other_line} == sides)):
                exact = (f.block, f.thread) == at
                return memory.describe(f), f.what if exact else in_words(kind)
        return "", in_words(kind)

    def _wrong_element(self, columns: dict[str, Column], objects: tuple[Object, ...]) -> Seen | None:
        """A case with a wrong result: the last write of the element that the verdict names, if any."""
        assert self.about.failed is not None
        failed, said = self.about.failed, self.said
        element = wrong_element.find(objects, self.contents, failed.evidence)
        if element is None:
            return self._written_by_owner(columns)
        one = objects[element.object]
        at = wrong_element.last_write(columns, one, element)
        if at < 0:
            own = said.line if _name(said.file) == self.about.submission else 0
            return wrong_element.unwritten(one, element, self.contents, failed, len(columns["op"]) - 1, own)
        block = self._xyz(said.blocks[int(columns["block"][at])].flat, said.grid)
        thread = self._xyz(int(columns["thread"][at]), said.block)
        title = f"{wrong_element.said(element, failed.evidence)}it was written here"
        line = self._line(int(columns["place"][at]))
        return Seen(wrong_element.KIND, at, at, -1, title, failed.message, block, thread, line,
                    object=element.object, element=element.number)  # fmt: skip

    def _written_by_owner(self, columns: dict[str, Column]) -> Seen | None:
        """The last access of the thread and line of which the verdict says that it wrote the element."""
        assert self.about.failed is not None
        failed = self.about.failed
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


def in_words(kind: str) -> str:
    """A finding of which the verdict has no sentence, or one of another thread."""
    return next((words for part, words in IN_WORDS if part in kind), kind.replace("-", " "))


def _inside(at: int, nbytes: int, contents: bytes) -> bool:
    return at == -1 or (at >= 0 and at + 2 * nbytes <= len(contents))


def _name(file: str) -> str:
    return file.rsplit("/", 1)[-1]
