"""How lesson 09 is graded."""

from grader.domain.task import Case, Task, Tensor
from grader.referee.parts.counters import Bound, Counters

SIDE = 128
ELEMENTS = SIDE * SIDE
SECTORS = ELEMENTS * 4 // 32  # each 32-byte sector once
SQUARE = Case("counted square", (Tensor((SIDE, SIDE)),))
TRANSPOSE = Case("counted transpose", (Tensor((SIDE, SIDE)),), entry="transpose")


def _blocks(name: str, args: tuple[int, int, int], why: str) -> Case:
    return Case(name, args, why, entry="resident_blocks")


def _floor(name: str, args: tuple[int, int], why: str) -> Case:
    return Case(name, args, why, entry="floor_ns")


TASK = Task(
    title="Memory, counted",
    entry="square",
    cases=(
        Case("square", (Tensor((SIDE, 96)),), "Every element squared."),
        Case("square, odd", (Tensor((37, 101)),), "3737 elements: one left over by float4."),
        Case("transpose", (Tensor((64, 96)),), "Whole tiles.", entry="transpose"),
        Case("transpose, odd", (Tensor((37, 101)),), "Tiles that hang over both edges.", entry="transpose"),
        _blocks("few threads", (32, 16, 0), "An SM takes 32 blocks, however small they are."),
        _blocks("registers", (256, 72, 16384), "72 registers a thread, 256 threads: they run out first."),
        _blocks("shared memory", (128, 32, 40000), "40,000 bytes each, and 1 KiB that the system takes."),
        _floor("memory bound", (67_108_864, 8_388_608), "A kernel that moves 67 MB and hardly computes."),
        _floor("compute bound", (369_098_752, 137_438_953_472), "The product of lesson 07: 137 GFLOP."),
    ),
    index="row_col",
    own="all",
    memory_points=2,
    parts=(
        Counters(
            SQUARE,
            (
                Bound("coalesced", "global_load_sectors", SECTORS, 2, "Each 32-byte sector is fetched once."),
                Bound("wide loads", "global_load_requests", ELEMENTS // 128, 2, "A warp asks for 128."),
            ),
        ),
        Counters(
            TRANSPOSE,
            (
                Bound("rows read", "global_load_sectors", SECTORS, 1, "The matrix is read along its rows."),
                Bound("rows written", "global_store_sectors", SECTORS, 2, "So is the result written."),
                Bound(
                    "no conflicts", "shared_load_conflicts", 0, 2,
                    "The 32 threads of a warp read from 32 different banks.", needs="rows written",
                ),
            ),
        ),
    ),
    introduces=("memory traffic",),
    terms=("sector", "coalescing", "bank conflict", "occupancy", "roofline"),
    requires=("kernel launch", "2-D index", "guard", "bytes moved"),
    minutes=70,
    starter_fails="few threads",
)  # fmt: skip
