"""How lesson 14 is graded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.domain.exercise_stage import Stage
from grader.domain.task import Case, Prediction, Task, Tensor
from grader.referee.parts.counters import Bound, Counters

if TYPE_CHECKING:
    import numpy as np

ROWS, COLS = 32, 1024
SECTORS = ROWS * COLS * 4 // 32  # each 32-byte sector once
SIDE = 256  # of the matrix that total adds up
TALL = 70_000  # rows: more blocks than a grid has along y
SIDEWAYS = "70,000 rows: a grid has 65,535 blocks at most along y and z, and far more along x."
BLOCKS = 64  # that total has at most
ROW_SUM = Case("counted rows", (Tensor((ROWS, COLS)),), entry="row_sum")
TOTAL = Case("counted total", (Tensor((SIDE, SIDE), fill="uniform"),), entry="total", terms=SIDE * SIDE)
ROW_VAR = Case("counted variance", (Tensor((ROWS, COLS)),), entry="row_var")


def _sized(rows: int, cols: int) -> tuple[int, int, int]:
    """Rows, columns, and the sectors of all rows: a row may begin within one, and so may each warp's part."""
    return rows, cols, rows * -(-cols // 32) * 5


def _shape(rng: np.random.Generator) -> tuple[int, int, int]:
    return _sized(int(rng.integers(20, 50)), int(rng.integers(600, 1500)))


def _long(rng: np.random.Generator) -> tuple[int, int, int]:
    """One row of any length, where a way of its own for long rows is likely."""
    return _sized(1, int(2 ** rng.uniform(11.5, 15.0)))


def _drawn_sums(rows: int, cols: int, sectors: int) -> tuple[Case, tuple[int, ...]]:
    case = Case(f"{rows} x {cols}", (Tensor((rows, cols)),), entry="row_sum", terms=cols)
    return case, (sectors, 0, 2 * rows, 8 * rows)


def _other_sums(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    return _drawn_sums(*_shape(rng))


def _short_sums(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    return _drawn_sums(*_sized(int(rng.integers(10, 20)), int(rng.integers(60, 250))))


def _long_sums(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    return _drawn_sums(*_long(rng))


def _drawn_total(rows: int, cols: int, blocks: int) -> tuple[Case, tuple[int, ...]]:
    """The sum of all, whose work must be shared by so many ``blocks`` at least."""
    x = Tensor((rows, cols), fill="uniform")
    case = Case(f"{rows} x {cols}", (x,), entry="total", terms=rows * cols)
    return case, (BLOCKS, 8 * BLOCKS, -(-rows * cols // 32 // blocks) + 8)


def _other_total(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    return _drawn_total(*_shape(rng)[:2], 16)


def _small_total(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    return _drawn_total(
        3, int(rng.integers(700, 1300)), 4
    )  # an atomic operation a warp would be more than 64


def _large_total(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    return _drawn_total(1030, int(rng.integers(1020, 1050)), 16)  # more than a million


def _drawn_variances(rows: int, cols: int, sectors: int) -> tuple[Case, tuple[int, ...]]:
    return Case(f"{rows} x {cols}", (Tensor((rows, cols)),), entry="row_var", terms=cols), (sectors,)


def _other_variances(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    return _drawn_variances(*_shape(rng))


def _long_variances(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    return _drawn_variances(*_long(rng))


def _sum(name: str, x: Tensor, why: str, *others: Tensor, launched: bool = False) -> Case:
    further = tuple((other,) for other in others)
    return Case(
        name, (x,), why, others=further, terms=max(one.shape[1] for one in (x, *others)), launched=launched
    )


def _total(name: str, shape: tuple[int, int], why: str, *others: tuple[int, int]) -> Case:
    x, *more = (Tensor(each, fill="uniform") for each in (shape, *others))
    further = tuple((other,) for other in more)
    return Case(name, (x,), why, entry="total", others=further, terms=shape[0] * shape[1])


def _var(name: str, x: Tensor, why: str, *others: Tensor, launched: bool = False) -> Case:
    further = tuple((other,) for other in others)
    return Case(name, (x,), why, entry="row_var", others=further, launched=launched)


TASK = Task(
    title="Reductions",
    entry="row_sum",
    cases=(
        _sum("whole rows", Tensor((8, 512)), "Every thread of a block has two elements."),
        _sum("odd sizes", Tensor((37, 101)), "Threads, and whole warps, without an element. And rows of "
             "whole float4 that begin at an odd address.", Tensor((8, 512), layout="offset")),
        _sum("long rows", Tensor((3, 4099), layout="columns"), "Rows much longer than a block, of a prime "
             "length, with gaps between them."),
        _sum("no columns", Tensor((5, 0)), "The sum of nothing is 0, and must be written. And where there "
             "are no rows, nothing is: a grid of zero blocks is a CUDA error.", Tensor((0, 8))),
        _sum("transposed", Tensor((30, 50), layout="transposed"), "A view whose rows do not lie in a piece."),
        _sum("many rows", Tensor((TALL, 3)), SIDEWAYS, launched=True),
        replace(_total("many", (131, 257), "More elements than threads: each thread goes on by as many as "
                       "the grid has threads. And elements that begin at an odd address."),
                others=((Tensor((64, 64), fill="uniform", layout="offset"),),)),
        _total("few", (1, 3), "One block, and most of its threads have no element. And no elements at "
               "all: the sum of nothing is 0.", (0, 8)),
        _var("variance", Tensor((37, 101)), "Threads, and whole warps, that bring nothing. And rows of one "
             "number, whose variance is 0, a row with NaN, whose variance is NaN, and rows of whole float4 "
             "at an odd address.", Tensor((13, 1)), Tensor((6, 300), fill="nan at the end"),
             Tensor((8, 512), layout="offset")),
        _var("far from zero", Tensor((9, 1000), shift=20.0), "A mean of 20 and a deviation of 1: a "
             "difference of squares loses its digits. And rows whose first element is far from all others: "
             "distances from it lose their digits as well.", Tensor((2, 4099), fill="spike")),
        _var("many variances", Tensor((TALL, 3)), SIDEWAYS, launched=True),
    ),
    index="row_col",
    own="all",
    memory_points=1,
    parts=(
        Counters(
            ROW_SUM,
            (
                Bound("along the rows", "global_load_sectors", SECTORS, 1, "Neighbouring threads read "
                      "neighbouring elements, so each 32-byte sector is requested once."),
                Bound("no conflicts", "shared_load_conflicts", 0, 1, "The threads of a warp read from "
                      "different banks of shared memory.", needs="along the rows"),
                Bound("few barriers", "barriers", 2 * ROWS, 1, "Within a warp no barrier is needed: one for "
                      "a row will do.", needs="along the rows"),
                Bound("few words", "shared_load_requests", 8 * ROWS, 1, "Of shared memory only one word "
                      "a warp is read.", needs="along the rows"),
            ),
            (_other_sums, _short_sums, _long_sums),
        ),
        Counters(
            TOTAL,
            (
                Bound("one atomic a block", "global_atomic_requests", BLOCKS, 1, "There are at most 64 "
                      "blocks, and each adds its sum to the result once."),
                Bound("words of a block", "shared_load_requests", 8 * BLOCKS, 1, "`block_sum` joins the "
                      "threads of a block here, too: one word of shared memory a warp is read.",
                      needs="one atomic a block"),
                Bound("shared by blocks", "global_load_requests_a_block", SIDE * SIDE // 32 // 16, 1,
                      "The work is shared by many blocks, 16 at least."),
            ),
            (_other_total, _small_total, _large_total),
        ),
        Counters(
            ROW_VAR,
            (
                Bound("one pass", "global_load_sectors", SECTORS, 1, "Each element is read once, for mean "
                      "and squares together, and neighbours by neighbouring threads."),
            ),
            (_other_variances, _long_variances),
        ),
    ),
    introduces=("reduction",),
    terms=("tree sum", "warp shuffle", "grid-stride loop", "atomic operation", "Welford's method"),
    requires=("kernel launch", "guard", "shared memory", "barrier", "memory traffic", "bank conflict"),
    minutes=120,
    stages=(
        Stage("A block a row", 35, (
            "whole rows", "odd sizes", "long rows", "no columns", "transposed", "many rows",
            "memory", "along the rows", "no conflicts",
        )),
        Stage("Warps", 25, ("few barriers", "few words")),
        Stage("All of it", 20, (
            "many", "few", "one atomic a block", "words of a block", "shared by blocks",
        )),
        Stage("Variance", 40, (
            "variance", "far from zero", "many variances", "one pass",
        )),
    ),
    starter_fails="many",
    predictions=(
        Prediction(
            "tree_barriers",
            "A block of 256 threads makes one number of 256 by the page's tree. How many barriers are there?",
            "barriers",
            9,
            "One when all numbers are there, and one after each of eight steps: 128, 64, 32, 16, 8, 4, 2, 1.",
        ),
        Prediction(
            "shared_words",
            "With shuffles first: how many words of shared memory does a block of 256 threads need?",
            "words",
            8,
            "One a warp. Within the warp no number leaves the registers.",
        ),
        Prediction(
            "atomics",
            "64 blocks of 256 threads add up a million elements. How many atomic operations do they need?",
            "operations",
            64,
            "Each block makes one number first, and adds it once.",
        ),
        Prediction(
            "order",
            "In float32: how much larger is 1 + 1 + 16,777,216 than 16,777,216 + 1 + 1, each from left to "
            "right?",
            "",
            2,
            "From 16,777,216 on float32 holds even numbers only, so adding 1 twice is rounded away twice.",
        ),
    ),
)  # fmt: skip
