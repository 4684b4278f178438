"""How lesson 12 is graded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.domain.exercise_stage import Stage
from grader.domain.task import Case, Fill, Layout, Prediction, Task, Tensor
from grader.referee.parts.counters import Bound, Counters

if TYPE_CHECKING:
    import numpy as np


def _product(name: str, shape: tuple[int, int, int], points: int, why: str, fill: Fill = "normal") -> Case:
    """x @ weight.T alone. ``shape`` is rows, inner, columns; ``fill`` is the weight's."""
    m, k, n = shape
    return Case(name, (Tensor((m, k)), Tensor((n, k), fill=fill)), why, points, entry="product")


def _whole(
    name: str, shape: tuple[int, int, int], points: int, why: str, *,
    layout: Layout = "contiguous", fill: Fill = "normal",
) -> Case:  # fmt: skip
    """Product and epilogue. ``fill`` is that of x."""
    m, k, n = shape
    x, weight = Tensor((m, k), layout=layout, fill=fill), Tensor((n, k), layout=layout)
    return Case(name, (x, weight, Tensor((n,)), Tensor((m, n), layout=layout)), why, points)


WHOLE = _whole("counted", (64, 16, 64), 0, "One tile, one step.")
COUNTED = _product("counted", (128, 64, 128), 0, "Two by two tiles of 64, four steps of 16.")


def _another_product(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    """Another size, with whole sectors in a row, and what tiles of 16 and of 32 ask for there."""
    m, k, n = int(rng.integers(70, 190)), 8 * int(rng.integers(3, 12)), int(rng.integers(70, 190))
    case = _product(f"{m} x {k} times {k} x {n}", (m, k, n), 0, "")
    narrow, wide = ((m * -(-n // side) + n * -(-m // side)) * k // 8 for side in (16, 32))
    shared = -(-m // 64) * -(-n // 64) * 64 * 64 * k // 32
    return case, (narrow * 11 // 10, wide * 11 // 10, shared * 11 // 10, 0)


def _another_whole(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    m, k, n = (int(size) for size in rng.integers(17, 90, 3))
    return _whole(f"{m} x {k} times {k} x {n}", (m, k, n), 0, ""), (1,)


TASK = Task(
    title="A matrix product with its epilogue",
    entry="gemm_epilogue",
    cases=(
        _product("whole tiles", (128, 64, 128), 1, "Whole tiles in all three directions."),
        _product("odd sizes", (37, 523, 41), 1, "Primes: the last tile hangs over in all three directions."),
        _product("one step", (16, 5, 33), 1, "A sum shorter than a tile is deep."),
        _product("one element", (1, 1, 1), 1, "One output: 255 of 256 threads only help to load."),
        _product("one row", (1, 70, 1100), 1, "A batch of one: more columns than rows."),
        _product("one column", (1100, 20, 1), 1, "More rows than columns."),
        _product("no products", (3, 0, 2), 1, "A sum of nothing is 0, and has to be written, too."),
        _product("infinite weight", (40, 3, 50), 1, "Beyond the sum's end both tiles are 0.", "special"),
        _whole("epilogue", (67, 37, 71), 1, "Bias, ReLU and residual where the sum is."),
        _whole("nan and inf", (33, 20, 18), 1, "ReLU of NaN is NaN; padding stays zero.", fill="special"),
        _whole("transposed", (40, 24, 36), 1, "Matrices that are transposed views.", layout="transposed"),
        _whole("no inner", (5, 0, 7), 1, "A sum of nothing is 0; bias, ReLU and residual remain."),
    ),
    index="row_col",
    own="all",
    memory_points=1,
    parts=(
        Counters(
            COUNTED,
            (
                Bound("shared tile", "global_load_sectors", 17_000, 2, "A tile of 16 x 16, copied along its "
                      "rows, is fetched once for 16 rows or columns of outputs."),
                Bound("wide tile", "global_load_sectors", 9_000, 2, "A tile of 64 rows, copied along its "
                      "rows, serves 64 rows or columns of outputs; the grid has a block for each 64 x 64."),
                Bound("register block", "shared_load_requests", 33_000, 1, "A number loaded from shared "
                      "memory into a register serves several products.", needs="shared tile"),
                Bound("no bank conflicts", "shared_load_conflicts", 0, 1, "With rows of 17 numbers in "
                      "the tiles, for example, and a thread's outputs 16 apart, not neighbours, no load from "
                      "shared memory has to wait for another of its warp.",
                      needs="shared tile"),
            ),
            _another_product,
        ),
        Counters(
            WHOLE,
            (Bound("one kernel", "launches", 1, 1, "Product and epilogue are one launch."),),
            _another_whole,
        ),
    ),
    introduces=("tiling",),
    terms=("shared-memory tile", "register blocking", "epilogue fusion"),
    requires=("fusion", "bytes moved", "kernel launch", "guard", "2-D index"),
    minutes=120,
    predictions=(
        Prediction(
            "fewer_fetches",
            "128 rows, 128 columns, 64 inner features. How many times fewer numbers does a kernel with tiles "
            "of 64 ask of global memory than one that fetches both factors for every product?",
            "times",
            answer=64,
            why="2,097,152 against 32,768. Each number that is fetched serves 64 outputs: the tile's edge.",
        ),
        Prediction(
            "shared_loads",
            "With 4 x 4 outputs, how many numbers does a thread load from shared memory for each "
            "multiplication? With one it is 2.",
            answer=0.5,
            why="4 + 4 numbers serve 16 products.",
        ),
        Prediction(
            "of_eager",
            "relu(x @ w.T + bias) + residual at 1024 x 8192 x 8192 on an H200: how many times as fast as "
            "eager is this lesson's kernel?",
            "times",
            answer=0.37,
            why="7483 us against 2786 us: the library's product is that much better, the epilogue 2 %.",
        ),
    ),
    stages=(
        Stage("Naive", 20, ("whole tiles", "odd sizes", "one step", "one element", "one row", "one column",
                             "no products")),
        Stage("Shared tile", 40, ("infinite weight", "memory", "shared tile")),
        Stage("Register block", 45, ("wide tile", "register block", "no bank conflicts")),
        Stage("Epilogue", 15, ("epilogue", "nan and inf", "transposed", "no inner", "one kernel")),
    ),
    starter_fails="whole tiles",
)  # fmt: skip
