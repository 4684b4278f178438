"""How lesson 12 is graded."""

from grader.domain.task import Case, Layout, Task, Tensor
from grader.referee.parts.counters import Bound, Counters


def _case(
    name: str,
    shape: tuple[int, int, int],
    points: int,
    why: str,
    *,
    layout: Layout = "contiguous",
    scale: float = 1.0,
    special: bool = False,
) -> Case:
    """``shape`` is rows, inner, columns."""
    m, k, n = shape
    x = Tensor((m, k), scale=scale, layout=layout, fill="special" if special else "normal")
    return Case(
        name, (x, Tensor((n, k), layout=layout), Tensor((n,)), Tensor((m, n), layout=layout)), why, points
    )


COUNTED = _case("counted", (128, 64, 128), 0, "Two by two tiles of 64, four steps of 16.")

TASK = Task(
    title="A matrix product with its epilogue",
    entry="gemm_epilogue",
    cases=(
        _case("whole tiles", (128, 64, 128), 3, "Whole tiles in all three directions."),
        _case("odd sizes", (67, 37, 71), 3, "Primes: the last tile hangs over in all three directions."),
        _case("one step", (16, 5, 33), 1, "A sum shorter than a tile is deep."),
        _case("one element", (1, 1, 1), 1, "One output: 255 of 256 threads only help to load."),
        _case("one row", (1, 70, 130), 1, "A batch of one: more columns than rows."),
        _case("one column", (131, 20, 1), 1, "More rows than columns."),
        _case("large", (24, 40, 20), 1, "Inputs near 1000.", scale=1e3),
        _case("nan and inf", (33, 20, 18), 1, "ReLU of NaN is NaN; padding stays zero.", special=True),
        _case("transposed", (40, 24, 36), 1, "Matrices that are transposed views.", layout="transposed"),
        _case("no inner", (5, 0, 7), 1, "A sum of nothing is 0; bias, ReLU and residual remain."),
    ),
    index="row_col",
    own="all",
    memory_points=2,
    parts=(
        Counters(
            COUNTED,
            (
                Bound("shared tiles", "global_load_sectors", 20_000, 2, "Each element of x and weight is "
                      "fetched once a tile, not once an output."),
                Bound("register block", "shared_load_requests", 33_000, 2, "A number loaded from shared "
                      "memory into a register serves several products."),
            ),
        ),
    ),
    introduces=("tiling",),
    terms=("shared-memory tile", "register blocking", "epilogue fusion"),
    requires=("fusion", "bytes moved", "kernel launch", "guard", "2-D index"),
    minutes=90,
    starter_fails="whole tiles",
)  # fmt: skip
