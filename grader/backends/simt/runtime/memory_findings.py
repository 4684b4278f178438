"""What the runtime library reports, resolved to messages about the student's own file."""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec.structs import replace

from grader.backends.simt.addresses import Place, resolve
from grader.backends.simt.runtime.library_reports import ACCESS, RawFinding, RawWriter
from grader.backends.simt.runtime.sentences import sentence
from grader.domain import typed_data
from grader.protocol.messages import MemoryFinding, OtherSide, Writer

RACES = {"shared-race", "global-race"}
UNWRITTEN = {"shared-uninitialised-read", "global-uninitialised-read"}
WARNINGS = {"barrier-exited-threads", "leak", "unwritten-copy"}
OVERFLOW = "integer-overflow"
OUTSIDE = ("out-of-bounds", "illegal-address")


def findings(said: bytes) -> list[MemoryFinding]:
    """The findings in the library's JSON, one a cause: kind, where, who, what."""
    raw = typed_data.decode(said, list[RawFinding])
    places = resolve((side.module, side.pc) for f in raw for side in (f, f.other) if side)
    return _Causes([_finding(f, places) for f in raw if not _is_one_barrier(f, places)]).told()


def _is_one_barrier(f: RawFinding, places: dict[tuple[str, int], Place]) -> bool:
    """Whether threads wait at one barrier of the source, of which the compiler made several calls.

    The barriers in a function of a library have one number wherever it is called: the line tells more there.
    """
    other = f.other
    return (
        bool(f.one_barrier)
        and other is not None
        and (places[f.module, f.pc] == places[other.module, other.pc])
    )


def _finding(f: RawFinding, places: dict[tuple[str, int], Place]) -> MemoryFinding:
    file, line = places[f.module, f.pc]
    other = None
    if f.other:
        at = places[f.other.module, f.other.pc]
        other = OtherSide(*at, f.other.block, f.other.thread, ACCESS[f.other.access])
    return MemoryFinding(
        kind=f.kind,
        severity="warning" if f.kind in WARNINGS else "error",
        kernel=f.kernel,
        file=file,
        line=line,
        block=f.block,
        thread=f.thread,
        access=ACCESS[f.access],
        size=f.size,
        what=sentence(f),
        count=f.count,
        launch=f.launch,
        tensor=f.tensor,
        other=other,
    )


@dataclass(slots=True)
class _Causes:
    """Findings without those that only follow from another one."""

    found: list[MemoryFinding]
    racing: set[tuple[str, Place]] = field(init=False)
    overflows: dict[str, MemoryFinding] = field(init=False)
    led_out: set[str] = field(init=False)
    masks: set[tuple[str, Place]] = field(init=False)

    def __post_init__(self) -> None:
        found = self.found
        races = [f for f in found if f.kind in RACES]
        self.racing = {(f.kernel, place) for f in races for place in _sides(f) if place[1]}
        self.overflows = {f.kernel: f for f in reversed(found) if f.kind == OVERFLOW}
        self.led_out = {f.kernel for f in found if f.kind.endswith(OUTSIDE)}
        self.masks = {(f.kernel, f.place) for f in found if f.kind == "bad-mask"}

    def told(self) -> list[MemoryFinding]:
        """In the order in which they were found; a race that both sides report is one."""
        out: list[MemoryFinding] = []
        races: dict[tuple[str, str, frozenset[Place]], int] = {}  # where in `out` each is
        for f in self.found:
            if self._follows(f):
                continue
            pair = f.kind, f.kernel, _sides(f)
            if f.kind in RACES and pair in races:
                before = out[races[pair]]
                # The reader is the one who should have waited.
                kept, count = f if f.access == "read" else before, (before.count or 0) + (f.count or 0)
                out[races[pair]] = replace(kept, count=count)
                continue
            if f.kind in RACES:
                races[pair] = len(out)
            out.append(self._with_overflow(f))
        return out

    def _follows(self, f: MemoryFinding) -> bool:
        """Whether another finding says why this one is there."""
        here = f.kernel, f.place
        return (
            (f.kind in UNWRITTEN and here in self.racing)  # it came too early
            or (f.kind == OVERFLOW and f.kernel in self.led_out)  # the access that it led to says so
            or (f.kind == "warp-exited-lanes" and here in self.masks)
        )

    def _with_overflow(self, f: MemoryFinding) -> MemoryFinding:
        before = self.overflows.get(f.kernel)
        if before is None or not f.kind.endswith(OUTSIDE):
            return f
        return replace(f, what=f"{f.what.split(';')[0]}. Before that, line {before.line} {before.what}")


def _sides(f: MemoryFinding) -> frozenset[Place]:
    return frozenset((f.place, (f.other.file, f.other.line)) if f.other else (f.place,))


def owner(said: bytes) -> Writer:
    """Who wrote an element last, from the library's JSON."""
    raw = typed_data.decode(said, RawWriter)
    file, line = resolve([(raw.module, raw.pc)])[raw.module, raw.pc]
    return Writer(raw.kernel, raw.block, raw.thread, file, line, raw.launch, ACCESS[raw.access])
