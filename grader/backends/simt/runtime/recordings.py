"""Recording of a launch: what the runtime library is asked for, and what it has kept."""

from __future__ import annotations

import ctypes

import numpy as np
from msgspec import Struct

from grader.backends.simt.addresses import resolve
from grader.domain import typed_data
from grader.domain.thread_recording import EVENT
from grader.protocol.messages import Xyz
from grader.protocol.recorded_launch import Asked, Recorded, RecordedBlock, RecordedFinding, RecordedObject


class _Raw(Struct, frozen=True):
    """The JSON of ``csrc/recording.cpp``."""

    launch: int
    fitting: int
    kernel: str
    file: str
    line: int
    grid: Xyz
    block: Xyz
    shared_bytes: int
    static_shared_bytes: int
    schedule: int
    module: str
    events: int
    content_bytes: int
    blocks: tuple[RecordedBlock, ...]
    objects: tuple[RecordedObject, ...]
    seen: tuple[RecordedFinding, ...]


class Recorder:
    """The part of the runtime library that records."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        library.simt_recorded.restype = ctypes.c_char_p
        library.simt_recorded_data.restype = ctypes.c_void_p

    def begin(self, asked: Asked) -> None:
        """Record what fits from now on; what was recorded before is forgotten."""
        numbers = [n for block in asked.blocks for n in block]
        self._library.simt_record(
            asked.kernel.encode(),
            ctypes.c_long(asked.launch),
            (ctypes.c_uint * max(1, len(numbers)))(*numbers),
            len(asked.blocks),
            int(asked.neighbours),
            ctypes.c_uint64(asked.most),
        )

    def end(self) -> None:
        """Record nothing more, and forget."""
        self.begin(Asked(most=0))

    def recorded(self) -> tuple[Recorded, bytes] | None:
        """The head, and behind one another the events and the contents; None if nothing was recorded."""
        said = self._library.simt_recorded()
        if not said:
            return None
        raw = typed_data.decode(said, _Raw)
        events = self._data(0, raw.events * EVENT.itemsize)
        pcs = set(np.unique(np.frombuffer(events, EVENT)["pc"]).tolist())
        pcs |= {pc for f in raw.seen for pc in (f.pc, f.other_pc)}
        found = resolve((raw.module, pc) for pc in pcs if pc)
        places = tuple((pc, *place) for (_, pc), place in sorted(found.items()))
        fields = {name: getattr(raw, name) for name in _Raw.__struct_fields__ if name != "module"}
        return Recorded(**fields, places=places), events + self._data(1, raw.content_bytes)

    def _data(self, which: int, nbytes: int) -> bytes:
        return ctypes.string_at(self._library.simt_recorded_data(which), nbytes) if nbytes else b""
