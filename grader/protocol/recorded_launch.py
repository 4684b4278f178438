"""What a player tells of a recorded launch: the head as a message; events and contents lie in the outbox."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from grader.protocol.messages import Count, Line, Name, Signed, Text, Xyz

MOST_EVENTS = 8_000_000
MOST_PLACES = 60_000


class _Claim(Struct, frozen=True, forbid_unknown_fields=True):
    """Plain data from a process that may lie."""


class RecordedBlock(_Claim, frozen=True):
    """A block by its flat number."""

    flat: Count
    asked: Count
    cut: Count
    events: Count


class RecordedObject(_Claim, frozen=True):
    """What accesses are about, see :class:`grader.domain.thread_recording.Object`."""

    kind: Name
    name: Name
    label: Name
    bytes: Count
    element: Count
    before: Signed
    after: Signed


class RecordedFinding(_Claim, frozen=True):
    """A finding of a recorded block; ``other``: the other thread of a race.

    ``one_barrier``: of threads that wait apart, whether their barriers have one number.
    """

    kind: Name
    pc: Count
    other_block: Xyz | None = None
    other_thread: Count = 0
    other_pc: Count = 0
    other_access: Count = 0
    one_barrier: Count = 0


class Recorded(_Claim, frozen=True):
    """The head. ``places``: (pc, file, line) of each instruction that occurs."""

    launch: Count
    fitting: Count
    kernel: Text
    file: Text
    line: Line
    grid: Xyz
    block: Xyz
    shared_bytes: Count
    static_shared_bytes: Count
    schedule: Count
    events: Annotated[int, Meta(ge=0, le=MOST_EVENTS)]
    content_bytes: Annotated[int, Meta(ge=0, le=64 << 20)]
    blocks: Annotated[tuple[RecordedBlock, ...], Meta(max_length=200)]
    objects: Annotated[tuple[RecordedObject, ...], Meta(max_length=2000)]
    seen: Annotated[tuple[RecordedFinding, ...], Meta(max_length=2000)]
    places: Annotated[tuple[tuple[Count, Text, Line], ...], Meta(max_length=MOST_PLACES)] = ()


class Asked(Struct, frozen=True):
    """What is to be recorded. ``kernel`` "": any. ``most``: events of each block that is asked for.

    ``launch``: the n-th of those that fit, -1: the first with a finding, else the first. No ``blocks``: the
    first one.
    """

    kernel: str = ""
    launch: int = -1
    blocks: tuple[Xyz, ...] = ()
    neighbours: bool = True
    most: int = 1_000_000


class Answer(_Claim, frozen=True):
    """What the player has recorded, if anything."""

    recorded: Recorded | None = None
