"""How lesson 09 is graded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.domain.exercise_stage import Stage
from grader.domain.task import Case, Prediction, Task, Tensor
from grader.referee.parts.answers import PlainCalls
from grader.referee.parts.counters import Bound, Counters

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

SIDE = 128
ELEMENTS = SIDE * SIDE
SECTORS = ELEMENTS * 4 // 32  # each 32-byte sector once
CHUNK = 6  # sectors of 32 numbers along a row, wherever it begins, in pieces of 16 at least
SQUARE = Case("counted square", (Tensor((SIDE, SIDE)),))
TRANSPOSE = Case("counted transpose", (Tensor((SIDE, SIDE)),), entry="transpose", moves=True)


def resident_blocks(threads: int, registers: int, shared_bytes: int) -> int:
    """Blocks that are on one SM of compute capability 9.0 at a time, as CUDA's occupancy calculator says."""
    warps = -(-threads // 32)
    of_a_warp = -(-registers * 32 // 256) * 256
    of_a_block = 1024 + -(-shared_bytes // 128) * 128
    return min(32, 64 // warps, 4 * (16384 // of_a_warp) // warps, 233472 // of_a_block)


def floor_ns(nbytes: int, flops: int) -> int:
    """The least time on an H200 by the roofline, in nanoseconds, rounded up."""
    return max(-(-nbytes // 4240), -(-flops // 66900))


def _another_square(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    # Three elements are left over: all others have to be read and written wide even so.
    rows, cols = 4 * int(rng.integers(10, 50)) + 1, 4 * int(rng.integers(10, 50)) + 3
    n = rows * cols
    case = Case(f"{rows} x {cols}", (Tensor((rows, cols)),))
    return case, (n // 8 + 8, n // 128 + 4, n // 8 + 8)


def _another_transpose(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    rows, cols = int(rng.integers(130, 200)), int(rng.integers(40, 130))  # more rows than SIDE
    case = Case(f"{rows} x {cols}", (Tensor((rows, cols)),), entry="transpose", moves=True)
    return case, (CHUNK * rows * -(-cols // 32), CHUNK * cols * -(-rows // 32), 0)


def _square(name: str, shape: tuple[int, int], why: str) -> Case:
    return Case(name, (Tensor(shape),), why)


def _drawn(*ends: tuple[int, int]) -> Callable[[np.random.Generator], tuple[int, ...]]:
    return lambda rng: tuple(int(rng.integers(low, high + 1)) for low, high in ends)


def _blocks(
    name: str, args: tuple[tuple[int, int, int], ...], why: str, *ends: tuple[int, int]
) -> PlainCalls:
    drawn = _drawn(*ends)
    return PlainCalls(name, "resident_blocks", args, resident_blocks, 1, why, drawn, rounded_up=False)


TASK = Task(
    title="Memory, counted",
    entry="square",
    cases=(
        _square("square", (300, 960), "Every element squared, by 282 blocks."),
        _square("one left over", (1, 1025), "1024 elements are 256 float4; one remains."),
        Case("three left over", (Tensor((13, 79), fill="special"),), "1027 elements, some NaN or infinite."),
        _square("three elements", (1, 3), "Fewer than one float4."),
        Case("transpose", (Tensor((544, 608)),), "Whole tiles, 17 by 19.", entry="transpose", moves=True),
        Case("no elements", (Tensor((0, 5)),), "Nothing to do: a grid of 0 blocks is an error.",
             entry="transpose", moves=True),
        Case("both edges", (Tensor((37, 101)),), "Tiles that hang over both edges.", entry="transpose",
             moves=True),
    ),
    index="row_col",
    own="all",
    memory_points=1,
    stream_points=1,
    parts=(
        Counters(
            SQUARE,
            (
                Bound("coalesced loads", "global_load_sectors", SECTORS, 1,
                      "Read along the rows, each 32-byte sector is requested once."),
                Bound("wide loads", "global_load_requests", ELEMENTS // 128, 1,
                      "With a float4 a thread, one request of a warp is for 128 elements."),
                Bound("coalesced stores", "global_store_sectors", SECTORS, 1,
                      "Written along the rows, each 32-byte sector is requested once."),
            ),
            (_another_square,),
        ),
        Counters(
            TRANSPOSE,
            (
                Bound("rows read", "global_load_sectors", SECTORS, 1,
                      "Read along its rows, the matrix takes each sector once."),
                Bound("rows written", "global_store_sectors", SECTORS, 1,
                      "Written along its rows, the result takes each sector once."),
                Bound(
                    "no conflicts", "shared_conflicts", 0, 2,
                    "The 32 threads of a warp read from 32 different banks, and write to 32.",
                    needs="rows written",
                ),
            ),
            (_another_transpose,),
        ),
        _blocks("few threads", ((32, 16, 0), (65, 16, 0)),
                "An SM takes 32 blocks, however small they are, and 64 warps.", (1, 1024), (16, 16), (0, 0)),
        _blocks("registers", ((256, 72, 16384), (96, 40, 0), (256, 36, 0), (40, 72, 0)),
                "Each quarter of an SM has its own 16,384 registers, and a warp takes them in "
                "steps of 256.", (32, 1024), (24, 255), (0, 0)),
        _blocks("shared memory", ((128, 32, 40000), (128, 32, 32329), (128, 32, 32640), (32, 16, 6272)),
                "Each block takes its own bytes, in steps of 128, and 1 KiB more; an SM has "
                "233,472.", (128, 128), (32, 32), (0, 232_448)),
        PlainCalls("floor", "floor_ns",
                   ((67_108_864, 8_388_608), (369_098_752, 137_438_953_472), (4_240_000, 1), (1, 66_900_001)),
                   floor_ns, 1,
                   "Memory and arithmetic work at once; the slower one sets the time, rounded up.",
                   _drawn((1, 1 << 34), (1, 1 << 38))),
    ),
    introduces=("memory traffic",),
    terms=("sector", "coalescing", "bank conflict", "occupancy", "roofline"),
    requires=("kernel launch", "2-D index", "guard", "bytes moved", "float4"),
    minutes=85,
    stages=(
        Stage("Squares along the rows", 30, (
            "square", "one left over", "three left over", "three elements",
            "streams", "coalesced loads", "wide loads", "coalesced stores",
        )),
        Stage("A tile for the transpose", 35, (
            "transpose", "no elements", "both edges", "memory", "rows read", "rows written", "no conflicts",
        )),
        Stage("Two limits", 20, ("few threads", "registers", "shared memory", "floor")),
    ),
    starter_fails="coalesced loads",
    predictions=(
        Prediction(
            "sectors_along",
            "1024 x 1024 floats are squared by 16 x 16 blocks, and threadIdx.x picks the column. "
            "How many sectors do all loads request?",
            "sectors",
            answer=131_072.0,
            why="A warp is two rows of 16 threads, and 16 neighbouring floats are two sectors: four for each "
            "of 32,768 requests.",
        ),
        Prediction(
            "sectors_down",
            "The same, but threadIdx.x picks the row. How many sectors?",
            "sectors",
            answer=524_288.0,
            why="The 32 threads touch 16 rows, two neighbouring elements in each: 16 sectors a request.",
        ),
        Prediction(
            "time_down",
            "How many times as long does the second kernel take as the first, on an H200?",
            "times",
            answer="counters/down/time : counters/along/time",
            why="Four times the sectors are requested, but not four times fetched: the caches still hold "
            "those that another warp has just used.",
        ),
        Prediction(
            "time_conflicts",
            "A transpose through tile[32][32]: how many times as long as through tile[32][33], on an H200?",
            "times",
            answer="counters/tile32/time : counters/tile33/time",
            why="In tile[32][32] a column lies in one bank, which serves the 32 threads one after another.",
        ),
        Prediction(
            "blocks_resident",
            "Blocks of 96 threads, 40 registers a thread, no shared memory: how many fit on an H200's SM?",
            "blocks",
            answer=16.0,
            why="A warp takes 1280 registers, so a quarter of the SM, with 16,384, holds 12 warps. 48 warps "
            "are 16 blocks.",
        ),
    ),
)  # fmt: skip
