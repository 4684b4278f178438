"""How lesson 12 is graded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.domain.exercise_stage import Stage
from grader.domain.task import Case, Fill, Layout, Prediction, Task, Tensor
from grader.referee.parts.counters import Bound, Counters

if TYPE_CHECKING:
    import numpy as np


def _factors(
    shape: tuple[int, int, int],
    fills: tuple[Fill, Fill] = ("normal", "normal"),
    layout: Layout = "contiguous",
) -> tuple[Tensor, ...]:
    m, k, n = shape
    return tuple(Tensor(s, fill=f, layout=layout) for s, f in zip(((m, k), (n, k)), fills, strict=True))


def _product(
    name: str, shape: tuple[int, int, int], points: int, why: str,
    fills: tuple[Fill, Fill] = ("normal", "normal"), others: tuple[tuple[Tensor, ...], ...] = (),
) -> Case:  # fmt: skip
    """x @ weight.T alone. ``shape`` is rows, inner, columns; ``fills`` are those of x and of the weight."""
    return Case(name, _factors(shape, fills), why, points, entry="product", others=others)


def _whole(
    name: str, shape: tuple[int, int, int], points: int, why: str, *,
    layout: Layout = "contiguous", fills: tuple[Fill, Fill] = ("normal", "normal"),
) -> Case:  # fmt: skip
    """Product and epilogue. ``fills`` are those of x and of the weight."""
    m, k, n = shape
    x, weight = (Tensor(s, layout=layout, fill=f) for s, f in zip(((m, k), (n, k)), fills, strict=True))
    return Case(name, (x, weight, Tensor((n,)), Tensor((m, n), layout=layout)), why, points)


WHOLE = _whole("counted", (64, 128, 64), 0, "One tile, eight steps.")
COUNTED = _product("counted", (128, 64, 128), 0, "Two by two tiles of 64, four steps of 16.")


def _sectors(m: int, k: int, n: int, side: int) -> int:
    """What tiles of ``side`` rows ask for of both factors."""
    return (m * -(-n // side) + n * -(-m // side)) * k // 8


def _another_product(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    """Another size, of a longer sum and of whole sectors in a row; what tiles of 16 and 32 ask for there."""
    m, k, n = int(rng.integers(70, 190)), 8 * int(rng.integers(9, 14)), int(rng.integers(70, 190))
    case = _product(f"{m} x {k} times {k} x {n}", (m, k, n), 0, "")
    narrow, wide = (_sectors(m, k, n, side) for side in (16, 32))
    shared = -(-m // 64) * -(-n // 64) * 64 * 64 * k // 32
    return case, (narrow * 11 // 10, wide * 11 // 10, shared * 11 // 10, 0)


def _with_epilogue(m: int, k: int, n: int) -> int:
    """Sectors of tiles of 32 and of any epilogue: well below tiles of 16, for sums of 128 terms or more."""
    return _sectors(m, k, n, 32) * 11 // 10 + 3 * m * n // 4


def _another_whole(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    m, k, n = (int(size) for size in rng.integers((17, 16, 17), (90, 20, 90)))
    k *= 8
    return _whole(f"{m} x {k} times {k} x {n}", (m, k, n), 0, ""), (1, _with_epilogue(m, k, n))


TASK = Task(
    title="A matrix product with its epilogue",
    entry="gemm_epilogue",
    cases=(
        _product("whole tiles", (128, 64, 128), 1, "Whole tiles in all three directions. And matrices that "
                 "begin at an odd address, where no float4 can.",
                 others=(_factors((64, 32, 64), layout="offset"),)),
        _product("odd sizes", (37, 523, 41), 1, "Primes: the last tile hangs over in all three directions. "
                 "And a sum of 4099 products.", others=(_factors((5, 4099, 7)),)),
        _product("one step", (16, 5, 33), 1, "A sum shorter than a tile is deep."),
        _product("one element", (1, 1, 1), 1, "One output: 255 of 256 threads only help to load."),
        _product("one row", (1, 70, 1100), 1, "A batch of one: more columns than rows."),
        _product("one column", (1100, 20, 1), 1, "More rows than columns."),
        _product("no products", (3, 0, 2), 1, "A sum of nothing is 0, and has to be written, too."),
        _product("infinite weight", (40, 19, 50), 1, "Beyond the sum's end both tiles are 0; within it 0 "
                 "times infinity is NaN.", ("bits", "special")),
        _whole("epilogue", (67, 37, 71), 1, "Bias, ReLU and residual where the sum is."),
        _whole("nan and inf", (33, 20, 18), 1, "ReLU of NaN is NaN; padding stays zero.",
               fills=("special", "bits")),
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
                Bound("wide tile", "global_load_sectors", 9_000, 1, "A tile of 64 rows, copied along its "
                      "rows, serves 64 rows or columns of outputs; the grid has a block for each 64 x 64."),
                Bound("register block", "shared_load_requests", 33_000, 1, "A number loaded from shared "
                      "memory into a register serves several products.", needs="shared tile"),
                Bound("no bank conflicts", "shared_load_conflicts", 0, 1, "With rows of 17 numbers in "
                      "the tiles, for example, and a thread's outputs 16 apart, not neighbours, no load from "
                      "shared memory has to wait for another of its warp.",
                      needs="shared tile"),
            ),
            (_another_product,),
        ),
        Counters(
            WHOLE,
            (
                Bound("one kernel", "launches", 1, 1, "Product and epilogue are one launch."),
                Bound("epilogue in tiles", "global_load_sectors", _with_epilogue(64, 128, 64), 1,
                      "With an epilogue, too, a tile of 64 rows serves 64 rows or columns of outputs."),
            ),
            (_another_whole,),
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
        Stage("Epilogue", 15, ("epilogue", "nan and inf", "transposed", "no inner", "one kernel",
                              "epilogue in tiles")),
    ),
    starter_fails="whole tiles",
)  # fmt: skip
