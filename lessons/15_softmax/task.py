"""How lesson 15 is graded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.domain.exercise_stage import Stage
from grader.domain.task import Case, Layout, Prediction, Task, Tensor
from grader.referee.parts.counters import Bound, Counters

if TYPE_CHECKING:
    import numpy as np

ROWS, COLS = 24, 1024
SECTORS = ROWS * COLS * 4 // 32  # each 32-byte sector once
THREE = Case("counted three passes", (Tensor((ROWS, COLS)),), entry="softmax")
TWO = Case("counted two passes", (Tensor((ROWS, COLS)),), entry="online")
NORM = Case(
    "counted norm", (Tensor((ROWS, COLS), dtype="float16"), Tensor((COLS,), dtype="float16"), 1e-5),
    entry="rms_norm",
)  # fmt: skip
LONG = 70_000  # columns: more than the shared memory of a block holds, and than 256 for each thread
TALL = 70_000  # rows: more blocks than a grid has along y


def _shape(rng: np.random.Generator, item: int = 4) -> tuple[int, int, int]:
    """Rows, columns, and the sectors of all rows: a row may begin within one, and so may each warp's part."""
    rows, cols = int(rng.integers(20, 40)), int(rng.integers(600, 1500))
    return rows, cols, rows * -(-cols // 32) * (item + 1)


def _long(rng: np.random.Generator, item: int = 4) -> tuple[int, int, int]:
    """One row of any length, where a way of its own for long rows is likely."""
    cols = int(2 ** rng.uniform(11.5, 15.0))
    return 1, cols, -(-cols // 32) * (item + 1)


def _drawn_two(rows: int, cols: int, sectors: int) -> tuple[Case, tuple[int, ...]]:
    case = Case(f"{rows} x {cols}", (Tensor((rows, cols)),), entry="online")
    return case, (2 * sectors, 2 * rows)


def _drawn_three(rows: int, cols: int, sectors: int) -> tuple[Case, tuple[int, ...]]:
    case = Case(f"{rows} x {cols}", (Tensor((rows, cols)),), entry="softmax")
    return case, (3 * sectors, 0, 4 * rows)


def _drawn_norm(rows: int, cols: int, sectors: int) -> tuple[Case, tuple[int, ...]]:
    arguments = (Tensor((rows, cols), dtype="float16"), Tensor((cols,), dtype="float16"), 1e-5)
    return Case(f"{rows} x {cols}", arguments, entry="rms_norm"), (4 * sectors,)


def _other_three(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    return _drawn_three(*_shape(rng))


def _long_three(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    return _drawn_three(*_long(rng))


def _other_two(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    return _drawn_two(*_shape(rng))


def _long_two(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    return _drawn_two(*_long(rng))


def _other_norm(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    return _drawn_norm(*_shape(rng, 2))


def _long_norm(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    return _drawn_norm(*_long(rng, 2))


def _plain(name: str, x: Tensor, why: str, *others: Tensor, launched: bool = False) -> Case:
    further = tuple((other,) for other in others)
    return Case(name, (x,), why, entry="softmax", others=further, launched=launched)


def _online(name: str, x: Tensor, why: str, *others: Tensor) -> Case:
    return Case(name, (x,), why, entry="online", others=tuple((other,) for other in others))


def _norm(
    name: str, x: Tensor, why: str, eps: float = 1e-5, weight: Layout = "contiguous", *, once: bool = False
) -> Case:
    given = (replace(x, dtype="float16"), Tensor(x.shape[1:], dtype="float16", layout=weight), eps)
    return Case(name, given, why, entry="rms_norm", rounded_once=once)


def _gradient(name: str, x: Tensor, grad: Tensor, why: str) -> Case:
    return Case(name, (x, grad), why, gradients=True)


TASK = Task(
    title="Softmax and RMSNorm",
    entry="ModelNew",
    kind="model",
    reference_entry="Model",
    cases=(
        _plain("whole rows", Tensor((8, 512)), "Every thread of a block has two elements."),
        _plain("large values", Tensor((37, 101), scale=200.0), "The exponential of 89 is infinite "
               "here, and whole warps have no element. And elements that are all near -1000: a largest one "
               "that begins at 0 is none of them.", Tensor((9, 300), shift=-1000.0)),
        _plain("very long rows", Tensor((1, LONG), layout="offset"), "A row that does not fit into shared "
               "memory. It begins at the second float of its memory, where no float4 can. And rows whose "
               "largest elements, far above the others, come late.", Tensor((12, 5000), scale=1000.0)),
        _plain("numbers of any kind", Tensor((40, 120), fill="limits"), "One row near the lowest float, "
               "one of -inf; NaN, or an infinite element, makes its whole row NaN."),
        _plain("many rows", Tensor((TALL, 3)), "70,000 rows: a grid has 65,535 blocks at most along y and z, "
               "and far more along x.", launched=True),
        _online("online", Tensor((37, 333), scale=30.0, shift=-500.0), "Larger ones come late; all "
                "are below 0. And rows of one element: its share is 1. And long rows with peaks.",
                Tensor((13, 1)), Tensor((12, 5000), scale=1000.0)),
        _online("masked", Tensor((23, 700), fill="masked"), "An element of -inf has a share of 0; a row of "
                "nothing else is NaN, as PyTorch says."),
        _online("nan and inf", Tensor((40, 120), fill="limits"), "NaN, or an infinite element, makes its "
                "whole row NaN; one row lies near the lowest float."),
        _norm("half precision", Tensor((11, 300), layout="offset"), "float16 in and out, and floats "
              "on the way: only the result is rounded to half. x begins in the middle of four bytes.",
              once=True),
        _norm("large squares", Tensor((5, 1000), scale=150.0), "Squares that float16 cannot hold, and a "
              "weight with gaps between its elements.", weight="strided"),
        _norm("small rows", Tensor((5, 260), scale=0.001), "Elements near 0.001: eps counts, under the "
              "root. As a float16 it would be 1.3 % larger. The weight begins in the middle of four bytes.",
              1e-6, weight="offset"),
        _gradient("gradient", Tensor((14, 500)), Tensor((14, 500), layout="offset"), "The gradient of x, "
                  "from one that comes in, at an odd address. The model is called once more before it is "
                  "asked for."),
        _gradient("gradient of a view", Tensor((30, 50), layout="transposed"),
                  Tensor((30, 50), layout="expanded"), "One row seen 30 times, as a sum makes it: stride 0."),
    ),
    index="row_col",
    own="all",
    memory_points=1,
    parts=(
        Counters(
            THREE,
            (
                Bound("along the rows", "global_load_sectors", 3 * SECTORS, 1, "Three passes, in which "
                      "neighbouring threads read neighbouring elements."),
                Bound("no conflicts", "shared_load_conflicts", 0, 1, "The threads of a warp read from "
                      "different banks of shared memory, or all the same word.", needs="along the rows"),
                Bound("few barriers", "barriers", 4 * ROWS, 1, "Two reductions a row: a barrier in each, and "
                      "one before shared memory is used again.", needs="along the rows"),
            ),
            (_other_three, _long_three),
        ),
        Counters(
            TWO,
            (
                Bound("two passes", "global_load_sectors", 2 * SECTORS, 1, "The largest element and the sum "
                      "come out of one pass; a second one writes."),
                Bound("one reduction", "barriers", 2 * ROWS, 1, "Both numbers are joined together, so one "
                      "barrier a row will do, or two.", needs="two passes"),
            ),
            (_other_two, _long_two),
        ),
        Counters(
            NORM,
            (
                Bound("half the bytes", "global_load_sectors", 2 * SECTORS, 1, "The row is read twice and "
                      "the weight once, two bytes an element, by neighbours side by side."),
            ),
            (_other_norm, _long_norm),
        ),
    ),
    introduces=("softmax",),
    terms=("online softmax", "RMSNorm", "autograd.Function"),
    requires=(
        "kernel launch", "guard", "shared memory", "barrier", "memory traffic", "reduction", "warp shuffle",
        "ModelNew",
    ),
    minutes=150,
    stages=(
        Stage("Three passes", 45, (
            "whole rows", "large values", "very long rows", "numbers of any kind",
            "many rows", "along the rows",
            "no conflicts", "few barriers",
        )),
        Stage("Two passes", 40, (
            "online", "masked", "nan and inf", "two passes", "one reduction",
        )),
        Stage("RMSNorm", 25, ("half precision", "large squares", "small rows", "half the bytes")),
        Stage("Backward", 40, ("gradient", "gradient of a view", "memory")),
    ),
    starter_fails="whole rows",
    predictions=(
        Prediction(
            "three_passes",
            "A row of 1,024 floats begins at a sector. How many sectors does the kernel with three passes "
            "read for it?",
            "sectors",
            384,
            "4,096 bytes are 128 sectors of 32 bytes, and each pass reads all of them.",
        ),
        Prediction(
            "row_barriers",
            "How many barriers does a block of that kernel meet at?",
            "barriers",
            4,
            "Two in each reduction: one before the warps' words are read, one before they are written again.",
        ),
        Prediction(
            "larger",
            "100 different elements stand in random order. How often, on average, is one of them larger than "
            "all before it, the first one included?",
            "times",
            5.19,
            "The k-th is the largest of the first k in one of k orders: 1 + 1/2 + ... + 1/100.",
        ),
        Prediction(
            "eager_moves",
            "Eager PyTorch computes the maximum, x - max, exp, the sum and the quotient, each by an "
            "operator. How many times does it move the matrix, reading and writing?",
            "times",
            8,
            "The maximum and the sum read it; difference, exponential and quotient read it and write it.",
        ),
    ),
)  # fmt: skip
