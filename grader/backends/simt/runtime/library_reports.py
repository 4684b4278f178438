"""The JSON of the runtime library (``csrc/findings.cpp``, ``csrc/history.cpp``), field by field.

Places are addresses in a module here; :mod:`grader.backends.simt.addresses` turns them into lines.
"""

from __future__ import annotations

from msgspec import Struct

from grader.protocol.messages import Access, Shape, TensorPlace, Xyz

ACCESS: dict[int, Access] = {0: "", 1: "write", 2: "read", 3: "atomic"}


class RawSide(Struct, frozen=True):
    """The other thread's access."""

    module: str
    pc: int
    block: Xyz
    thread: Xyz
    access: int


class RawFinding(Struct, frozen=True):
    """A finding. ``variable``: of shared memory (of the block ``owner``), or of the ``device``.

    ``name`` to ``right``: of arithmetic.

    ``missing`` of ``elements`` were not written, the ``first`` of them at that index. ``wrapped``: an index
    that is below zero if it is read as a signed number. ``one_barrier``: both wait at one number.
    """

    kind: str
    count: int
    kernel: str = ""
    detail: str = ""
    launch: int | None = None
    module: str = ""
    pc: int = 0
    block: Xyz | None = None
    thread: Xyz | None = None
    access: int = 0
    size: int = 0
    tensor: TensorPlace | None = None
    other: RawSide | None = None
    variable: str | None = None
    variable_bytes: int = 0
    variable_offset: int = 0
    device: int = 0
    owner: Xyz | None = None
    name: str = ""
    type: str = ""
    left: int = 0
    right: int = 0
    one_barrier: int = 0
    wrapped: int | None = None
    wrapped_in: str = ""
    missing: int = 0
    elements: int = 0
    first: int = 0
    operation: str = ""


class RawWriter(Struct, frozen=True):
    """The thread that wrote an element last."""

    kernel: str
    launch: int
    module: str
    pc: int
    block: Xyz
    thread: Xyz
    access: int


class Instruction(Struct, frozen=True):
    """What one instruction did to memory; ``space`` 0 is global memory, 1 shared."""

    pc: int
    access: int
    space: int
    size: int
    requests: int
    lanes: int
    sectors: int
    wavefronts: int
    least: int


class BasicBlock(Struct, frozen=True):
    """How often warps ran through a basic block, and with how many lanes in all."""

    pc: int
    warps: int
    lanes: int


class RawCounts(Struct, frozen=True):
    """The counts of a launch; ``regular``: all blocks that were counted agree."""

    barriers: int
    tensor_operations: int
    read_bytes: int
    written_bytes: int
    fetched_bytes: int
    block_read_bytes: int
    skipped_blocks: int
    regular: int
    blocks: list[BasicBlock]
    instructions: list[Instruction]


class RawLaunch(Struct, frozen=True):
    """A launch, with counts where counting was on."""

    launch: int
    kernel: str
    file: str
    line: int
    grid: Shape
    block: Shape
    shared_bytes: int
    static_shared_bytes: int
    default_stream: int
    own_stream: int
    module: str
    counts: RawCounts | None = None
