"""What a back end tells of a submission's kernels: launches, their counts, memory findings, owners, versions.

Each message is defined once, here: the class is the type on both sides and the form that the referee demands
of an untrusted process (:func:`decode`). Content is judged elsewhere; after decoding, code may rely on
types, lengths and ranges, and on nothing else.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from grader.domain import typed_data
from grader.protocol.wire import MalformedError

MOST_LAUNCHES, MOST_FINDINGS, MOST_TIMED = 200, 200, 10_000  # told with one answer; timed by a profiler
MOST_LINES, MOST_TEXT, MOST_ASKED = 100_000, 10_000, 1_000

Text = Annotated[str, Meta(max_length=MOST_TEXT)]
Name = Annotated[str, Meta(max_length=500)]
Line = Annotated[int, Meta(ge=0, lt=10_000_000)]
Count = Annotated[int, Meta(ge=0, lt=1 << 62)]
Signed = Annotated[int, Meta(gt=-(1 << 62), lt=1 << 62)]
Seconds = Annotated[float, Meta(ge=0, lt=1e6)]
Xyz = tuple[Count, Count, Count]
Shape = Annotated[tuple[Count, ...], Meta(max_length=3)]
Access = Literal["", "write", "read", "atomic"]
Traffic = Literal[
    "global_load",
    "global_store",
    "global_atomic",
    "shared_load",
    "shared_store",
    "shared_atomic",
    "variable_load",
    "variable_store",
    "variable_atomic",
]
Message = TypeVar("Message")


class _Claim(Struct, frozen=True, forbid_unknown_fields=True):
    """Plain data from a process that may lie. What has no default must be said."""


class Requests(_Claim, frozen=True):
    """The accesses of one kind. ``sectors`` of 32 bytes; ``wavefronts`` in shared memory.

    ``least``: the sectors or wavefronts that the same bytes need at least; ``lanes``: threads that took part.
    """

    requests: Count = 0
    sectors: Count = 0
    wavefronts: Count = 0
    lanes: Count = 0
    least: Count = 0


class SharedRequests(Requests, frozen=True):
    """``conflicts``: wavefronts beyond the least, because of banks."""

    conflicts: Signed = 0


class LineRequests(Requests, frozen=True, kw_only=True):
    """The accesses of one kind and ``size`` (bytes of a thread) on one line of the source."""

    file: Text
    line: Line
    what: Traffic
    size: Count = 0


class Divergence(_Claim, frozen=True):
    """A line that ``warps`` ran with ``lanes`` of their 32 on average."""

    file: Text
    line: Line
    warps: Count
    lanes: Annotated[float, Meta(ge=0, le=32)]


class Occupancy(_Claim, frozen=True):
    """``blocks`` that fit on a multiprocessor, the ``fraction`` of its warps, and what is the ``limit``."""

    blocks: Count
    fraction: Annotated[float, Meta(ge=0, le=1)]
    limit: Name
    by_warps: Count
    by_shared_memory: Count


class Counts(_Claim, frozen=True):
    """What one launch did, as Nsight Compute counts it.

    ``read_bytes`` and ``written_bytes``: distinct bytes of device memory; ``fetched_bytes``: whole sectors;
    ``block_read_bytes``: sectors read, each once for every block. ``operations``: by kind, their weighted sum
    as "flops". ``sampled``: some blocks were left out; ``exact``: those that were counted stand for them.
    ``variable_load`` and its like: of ``__device__`` and ``__constant__`` variables, which are in none of the
    others. ``barriers``: of blocks and of groups of their warps, and each time that all of a block's threads
    have arrived at a ``cuda::barrier``.
    """

    global_load: Requests = Requests()
    global_store: Requests = Requests()
    global_atomic: Requests = Requests()
    shared_load: SharedRequests = SharedRequests()
    shared_store: SharedRequests = SharedRequests()
    shared_atomic: SharedRequests = SharedRequests()
    variable_load: Requests = Requests()
    variable_store: Requests = Requests()
    variable_atomic: Requests = Requests()
    barriers: Count = 0
    tensor_operations: Count = 0
    read_bytes: Count = 0
    written_bytes: Count = 0
    fetched_bytes: Count = 0
    block_read_bytes: Count = 0
    operations: Annotated[dict[Name, Count], Meta(max_length=100)] = {}
    active_lanes: Annotated[float, Meta(ge=0, le=32)] = 0.0
    divergent: Annotated[tuple[Divergence, ...], Meta(max_length=MOST_LINES)] = ()
    sampled: bool = False
    exact: bool = True
    lines: Annotated[tuple[LineRequests, ...], Meta(max_length=MOST_LINES)] = ()
    occupancy: Occupancy | None = None

    @property
    def flops(self) -> int:
        """Floating-point operations, a fused multiply-add as two."""
        return self.operations.get("flops", 0)

    @property
    def moved_bytes(self) -> int:
        """Bytes that have to cross device memory, in both directions."""
        return self.read_bytes + self.written_bytes


class Launch(_Claim, frozen=True):
    """One launch. ``counts``: where counting was on; ``seconds`` and ``began``: where a GPU ran it.

    Where the CPU back end ran it, ``default_stream``: whether it was launched there; ``own_stream``: whether
    it, or a copy of its call, was on a stream of the file's own.
    """

    kernel: Text = ""
    grid: Shape = ()
    block: Shape = ()
    launch: Count = 0
    shared_bytes: Count = 0
    static_shared_bytes: Count = 0
    file: Text = ""
    line: Line = 0
    counts: Counts | None = None
    seconds: Seconds = 0.0
    began: Seconds = 0.0
    default_stream: bool = False
    own_stream: bool = False


class Writer(_Claim, frozen=True):
    """The thread that wrote an element last."""

    kernel: Text
    block: Xyz
    thread: Xyz
    file: Text = ""
    line: Line = 0
    launch: Count = 0
    access: Access = "write"


class Ownership(_Claim, frozen=True, omit_defaults=True):
    """Who wrote an element, as far as that is known. ``seen``: by a look at each write; ``writer`` says who.

    ``kernels``: for several elements at once, the kernel of each or None. Else, on a GPU, ``traced``: the
    call's launches are known, and ``last`` is the last one of the file's own, or None.
    """

    seen: bool = False
    writer: Writer | None = None
    kernels: Annotated[tuple[Text | None, ...], Meta(max_length=MOST_ASKED)] | None = None
    traced: bool = False
    last: Launch | None = None


class OtherSide(_Claim, frozen=True):
    """The access that a finding's access is in conflict with."""

    file: Text
    line: Line
    block: Xyz
    thread: Xyz
    access: Access


class TensorPlace(_Claim, frozen=True, omit_defaults=True):
    """Where in which allocation: ``offset`` and ``bytes``, whose elements have ``element`` bytes.

    ``argument``: the kernel's parameter that points there, with its own offset and size of an element.
    """

    number: Count
    label: Text
    bytes: Count
    element: Count
    offset: Signed
    argument: Text | None = None
    argument_offset: Signed | None = None
    argument_element: Count | None = None


class MemoryFinding(_Claim, frozen=True, omit_defaults=True, kw_only=True):
    """What threads did wrong to memory: what, where in the source, who, and how often.

    None is what a back end did not say. ``other``: the other thread of a race.
    """

    kind: Name
    kernel: Text
    what: Text
    line: Line | None
    block: Xyz | None
    thread: Xyz | None
    severity: Literal["error", "warning"] | None = None
    file: Text | None = None
    access: Access | None = None
    size: Count | None = None
    count: Count | None = None
    launch: Count | None = None
    tensor: TensorPlace | None = None
    other: OtherSide | None = None

    @property
    def place(self) -> tuple[str, int]:
        """File and line; "" and 0 where they are not known."""
        return self.file or "", self.line or 0

    def as_json(self) -> dict[str, object]:
        """As a verdict publishes it, without what was not said."""
        return plain(self)


class Observed(_Claim, frozen=True):
    """What comes with every answer: seen since the one before."""

    findings: Annotated[tuple[MemoryFinding, ...], Meta(max_length=MOST_FINDINGS)] = ()
    launches: Annotated[tuple[Launch, ...], Meta(max_length=MOST_LAUNCHES)] = ()


class Timed(_Claim, frozen=True):
    """The launches that a GPU's profiler saw, in order of time."""

    launches: Annotated[tuple[Launch, ...], Meta(max_length=MOST_TIMED)] = ()


class Facts(_Claim, frozen=True, omit_defaults=True):
    """Versions and device of a player. ``sandbox``: the layers around it; only the referee knows them."""

    torch: Name = ""
    cuda: Name = ""
    device: Name = ""
    sandbox: Name = ""


class Ready(Facts, frozen=True):
    """The first message of a player. ``confined``: which rights it has given up."""

    confined: Annotated[tuple[Name, ...], Meta(max_length=20)] = ()


class BuildReply(_Claim, frozen=True, omit_defaults=True):
    """The referee's answer to a build request: the module's ``path``, or why there is none.

    ``ordinary``: why the player is to build it as torch does, on a GPU.
    """

    path: str = ""
    message: str = ""
    ordinary: str = ""


def decode(claim: object, form: type[Message], what: str = "message") -> Message:
    """The message in ``claim``, which is plain data.

    Raises:
        MalformedError: It has another form. It is refused as a whole: dropping a part would hide it.
    """
    try:
        return typed_data.convert(claim, form)
    except msgspec.ValidationError as error:
        raise MalformedError(f"{what} of another form: {str(error)[:200]}") from error


def plain(message: Struct) -> dict[str, Any]:
    """The message as it would come out of JSON."""
    data: dict[str, Any] = json.loads(msgspec.json.encode(message))
    return data
