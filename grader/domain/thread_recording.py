"""What the threads of some blocks of one launch did, in the order in which it ran, as data.

The file that ``course replay --json`` writes is a :class:`RecordingFile`; ``docs/guide/recording.md`` says
what its fields mean. In memory the events are columns of numpy, one element an event.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

SCHEMA: Literal["inline-to-fused/recording/v1"] = "inline-to-fused/recording/v1"
OPS = ("enters", "writes", "reads", "updates", "arrives", "releases", "meets", "parts", "leaves", "found",
       "keeps", "fences", "more", "meets grid", "begins", "ends")  # fmt: skip
ENTERS, WRITES, READS, UPDATES, ARRIVES, RELEASES, MEETS, PARTS = range(8)
LEAVES, FOUND, KEEPS, FENCES, MORE, MEETS_GRID, BEGINS, ENDS = range(8, 16)
ACCESSES = (WRITES, READS, UPDATES)

# An event as the CPU back end's runtime keeps it (csrc/recording.h).
EVENT = np.dtype(
    [("value", "<u8"), ("offset", "<i8"), ("pc", "<u4"), ("block", "<u4"), ("object", "<i4"),
     ("thread", "<u2"), ("op", "u1"), ("size", "u1")]
)  # fmt: skip
COLUMNS: dict[str, str] = {
    "op": "<u1", "block": "<u1", "thread": "<u2", "place": "<u2", "object": "<i2", "size": "<u1",
    "offset": "<i4", "value": "<u8",
}  # fmt: skip
DTYPES: dict[str, str] = {
    "float32": "<f4", "float64": "<f8", "float16": "<f2", "int8": "<i1", "int16": "<i2", "int32": "<i4",
    "int64": "<i8", "uint8": "<u1", "uint16": "<u2", "uint32": "<u4", "uint64": "<u8", "bool": "<u1",
}  # fmt: skip
# What the runtime's labels call a type: "Float[32, 64]".
LABELS = {"Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16", "Char": "int8",
          "Short": "int16", "Int": "int32", "Long": "int64", "Byte": "uint8", "Bool": "bool"}  # fmt: skip
LABEL = re.compile(r"(?P<type>\w+)\[(?P<shape>[\d, ]*)\]")
# What C++ calls one.
CPP = {"float": "float32", "double": "float64", "int": "int32", "unsigned": "uint32", "int64_t": "int64",
       "long long": "int64", "size_t": "uint64", "uint8_t": "uint8", "bool": "bool", "char": "int8",
       "__half": "float16", "half": "float16", "short": "int16", "int32_t": "int32", "uint32_t": "uint32",
       "unsigned int": "uint32", "float4": "float32", "float2": "float32"}  # fmt: skip

Count = Annotated[int, Meta(ge=0)]
Xyz = tuple[int, int, int]
Column = NDArray[Any]


class Place(Struct, frozen=True):
    """A line of a source; line 0: not known."""

    file: str
    line: int


class Source(Struct, frozen=True):
    """The text of a file; its first line has this number."""

    file: str
    text: str
    first_line: int = 1


class Block(Struct, frozen=True):
    """A block that was recorded. ``asked``: not only as a neighbour. ``cut``: it did more than was kept."""

    index: Xyz
    asked: bool
    cut: bool
    events: Count


class Object(Struct, frozen=True):
    """What accesses are about: a tensor, a shared or ``__device__`` variable; or a local variable.

    ``dtype`` "" where it is not known. ``before`` and ``after`` the launch: where its bytes lie in the
    recording's contents, and behind them one byte for each that says whether anything has written it; -1:
    they were not kept.
    """

    kind: Literal["tensor", "shared", "device", "local"]
    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: Count
    element: Count
    before: int = -1
    after: int = -1


class Launch(Struct, frozen=True):
    """The launch. ``fitting``: the n-th of its kernel since the recording began."""

    kernel: str
    launch: Count
    fitting: Count
    file: str
    line: int
    grid: Xyz
    block: Xyz
    shared_bytes: Count
    schedule: Count


class Seen(Struct, frozen=True):
    """A finding, at its ``event``. ``access`` and ``other``: events of the two sides, -1: not recorded.

    ``title`` is one sentence for the reader, ``message`` the verdict's, "" where it does not tell of it.
    ``line``: of the access, or of the launch for a wrong element that nothing that was recorded wrote; such
    a one has no ``thread``, and no ``block`` but that which is known to have written it. ``object`` and
    ``element``: the wrong element, -1 for other findings.
    """

    kind: str
    event: int
    access: int
    other: int
    title: str
    message: str
    block: Xyz | None
    thread: Xyz | None
    line: int
    other_block: Xyz | None = None
    other_thread: Xyz | None = None
    other_line: int = 0
    object: int = -1
    element: int = -1


class Head(Struct, frozen=True):
    """All of a recording but its events and contents. ``command``: what records this launch again."""

    title: str
    lesson: str
    case: str
    submission: str
    status: str
    launch: Launch
    blocks: tuple[Block, ...]
    objects: tuple[Object, ...]
    places: tuple[Place, ...]
    sources: tuple[Source, ...]
    findings: tuple[Seen, ...]
    notes: tuple[str, ...] = ()
    command: str = ""


class Contents(Struct, frozen=True):
    """The elements of a tensor, null for one that nothing has written."""

    object: int
    when: Literal["before", "after"]
    elements: list[float | int | None]


class Events(Struct, frozen=True):
    """The events in their order, a list for each column."""

    op: list[int]
    block: list[int]
    thread: list[int]
    place: list[int]
    object: list[int]
    size: list[int]
    offset: list[int]
    value: list[float | int | None]


class RecordingFile(Struct, frozen=True):
    """The recording as a file of JSON."""

    schema: Literal["inline-to-fused/recording/v1"]
    ops: tuple[str, ...]
    head: Head
    contents: tuple[Contents, ...]
    events: Events


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording in memory: the head, a column each (see ``COLUMNS``), and the bytes of tensors."""

    head: Head
    columns: dict[str, Column]
    contents: bytes = field(repr=False, default=b"")

    def __len__(self) -> int:
        """How many events there are."""
        return len(self.columns["op"])

    def packed(self) -> bytes:
        """For the page: length of the head, the head as JSON, each column, the contents."""
        columns = {name: self.columns[name].astype(kind, copy=False) for name, kind in COLUMNS.items()}
        head = msgspec.to_builtins(self.head) | {
            "ops": OPS, "count": len(self), "columns": COLUMNS, "contents": len(self.contents),
        }  # fmt: skip
        text = msgspec.json.encode(head)
        text += b" " * (-len(text) % 8)
        body = b"".join(_padded(columns[name].tobytes()) for name in COLUMNS)
        return struct.pack("<Q", len(text)) + text + body + self.contents

    def as_json(self) -> bytes:
        """The file that others can draw."""
        return msgspec.json.encode(
            RecordingFile(SCHEMA, OPS, self.head, tuple(self._contents()), self._events())
        )

    def _events(self) -> Events:
        plain = {n: self.columns[n].tolist() for n in COLUMNS if n != "value"}
        return Events(**plain, value=self.values())

    def values(self) -> list[float | int | None]:
        """The value of each event as a number: by the type of its object, else the bits; NaN as None."""
        out: list[float | int | None] = self.columns["value"].tolist()
        op, size, obj = (self.columns[n] for n in ("op", "size", "object"))
        bits = self.columns["value"].astype("<u8", copy=False)
        for number, one in enumerate(self.head.objects):
            mine = (obj == number) & np.isin(op, (*ACCESSES, MORE))
            width = np.dtype(DTYPES.get(one.dtype, "<u8")).itemsize
            fits = mine & (size == width) & (one.dtype in DTYPES)
            _put(out, bits, fits, one.dtype)
        kept = op == KEEPS
        for code in np.unique(size[kept]):
            _put(out, bits, kept & (size == code), local_dtype(int(code)))
        return out

    def _contents(self) -> list[Contents]:
        found = []
        for number, one in enumerate(self.head.objects):
            for when, at in (("before", one.before), ("after", one.after)):
                if at >= 0 and one.dtype in DTYPES:
                    found.append(Contents(number, when, self.elements(one, at)))  # type: ignore[arg-type]
        return found

    def elements(self, one: Object, at: int) -> list[float | int | None]:
        """The elements of a tensor whose bytes lie at ``at``; None for what nothing wrote."""
        kind = np.dtype(DTYPES[one.dtype])
        count = one.bytes // kind.itemsize
        data = np.frombuffer(self.contents, kind, count, at).tolist()
        known = np.frombuffer(self.contents, "u1", count * kind.itemsize, at + one.bytes)
        written: list[bool] = np.asarray(known.reshape(count, kind.itemsize).all(axis=1)).tolist()
        return [_number(v) if w else None for v, w in zip(data, written, strict=True)]


def local_dtype(code: int) -> str:
    """The type of a local variable from the ``size`` of its event: bytes, and 16 times its kind."""
    kind = ("int", "uint", "float")[min(code >> 4, 2)]
    return f"{kind}{(code & 15) * 8}"


def _number(value: float | int) -> float | int | None:
    return value if isinstance(value, int) or np.isfinite(value) else None


def _put(out: list[float | int | None], bits: Column, where: Column, dtype: str) -> None:
    if dtype not in DTYPES or not where.any():
        return
    kind = np.dtype(DTYPES[dtype])
    raw = np.ascontiguousarray(bits[where]).view("u1").reshape(-1, 8)[:, : kind.itemsize]
    numbers = np.ascontiguousarray(raw).view(kind).ravel().tolist()
    for at, number in zip(np.flatnonzero(where).tolist(), numbers, strict=True):
        out[at] = _number(number)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 8)


def labelled(label: str) -> tuple[str, tuple[int, ...]]:
    """(dtype, shape) of a tensor from the runtime's label; ("", ()) where it has none."""
    match = LABEL.fullmatch(label)
    if not match:
        return "", ()
    shape = tuple(int(n) for n in match["shape"].split(",") if n.strip())
    return LABELS.get(match["type"], ""), shape
