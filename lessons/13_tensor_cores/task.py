"""How lesson 13 is graded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.domain.exercise_stage import Stage
from grader.domain.task import Case, Layout, Prediction, Task, Tensor
from grader.referee.parts.counters import Bound, Counters
from grader.referee.parts.ratio import Ratio

if TYPE_CHECKING:
    import numpy as np


def _case(
    name: str, shape: tuple[int, int, int], points: int, why: str, scale: float = 1.0,
    layout: Layout = "contiguous", bias: Tensor | None = None,
) -> Case:  # fmt: skip
    """``shape`` is rows, inner, columns."""
    m, k, n = shape
    x, weight = Tensor((m, k), scale=scale, layout=layout), Tensor((n, k), layout=layout)
    return Case(name, (x, weight, bias or Tensor((n,))), why, points)


def _split(name: str, x: Tensor, points: int, why: str) -> Case:
    return Case(name, (x,), why, points, entry="split", by_torch=True)


def _second(name: str, shape: tuple[int, int, int], points: int, why: str, scale: float = 1.0) -> Case:
    args = (*_case(name, shape, points, why, scale).args, FACTOR)
    return Case(name, args, why, points, entry="gemm_sigmoid")


def _operations(rows: int, inner: int, cols: int) -> tuple[int, int]:
    """The least of tensor cores, for three products, and the most of threads: less than one product."""
    return 3 * 2 * rows * inner * cols, 3 * rows * inner * cols // 2


def _other(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    """No size is whole tiles, nor ``inner`` whole chunks."""
    rows, inner, cols = (2 * int(n) + 1 for n in rng.integers((10, 65, 10), (30, 88, 30)))
    return _case(f"{rows} x {inner} x {cols}", (rows, inner, cols), 0, ""), _operations(rows, inner, cols)


def _other_second(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    rows, inner, cols = (int(n) for n in rng.integers((17, 65, 17), (33, 97, 33)))
    name = f"{rows} x {inner} x {cols} of gemm_sigmoid"
    return _second(name, (rows, inner, cols), 0, ""), _operations(rows, inner, cols)


M, K, N = 1024, 8192, 8192
COUNTED = (48, 256, 64)
TENSOR, THREADS = _operations(*COUNTED)
# Of one sign, so that what is cut off adds up; of few outputs the framework's own largest error is small.
LONG = *(Tensor((n, 8200), fill="uniform") for n in (2, 2)), Tensor((2,))
SHAPES = ((4, 8), (6, 8), (6,))
ON_CPU = tuple(Tensor(shape, device="cpu") for shape in SHAPES)
ONE_ON_CPU = tuple(
    tuple(Tensor(shape, device="cpu" if n == there else "cuda") for n, shape in enumerate(SHAPES))
    for there in (0, 1)
)
FACTOR = -15.996  # near the middle between two halves: what rounds it to half precision shows
BIAS_ON_CPU = (*(Tensor(shape) for shape in SHAPES[:2]), ON_CPU[2])

TASK = Task(
    title="Tensor cores at full accuracy",
    entry="gemm_relu",
    cases=(
        _case("error", (32, 256, 48), 1, "As close to float64 as 20 times the error of eager float32."),
        _case("odd sizes", (33, 67, 35), 1, "Sizes that are no multiple of anything."),
        _case("short sum", (20, 3, 17), 1, "A sum shorter than a chunk."),
        Case("long sum", LONG, "8200 products: errors add up, if the sum is not promoted.", 1),
        _case("large", (16, 64, 24), 1, "Inputs near 10000, as large as half precision can bear.", 1e4),
        _case("tiny", (16, 64, 24), 1, "Inputs near 0.001, where half precision thins out.", 1e-3),
        _second("second model", (24, 96, 40), 1, "Sigmoid, scale and residual of lesson 08, in the kernel.",
                5.0),
        Case("second model, long sum", (*LONG, FACTOR), "Its sum must be promoted, too.", 1,
             entry="gemm_sigmoid"),
        _split("split", Tensor((33, 31)), 1, "High and low part, exactly."),
        _split("split, tiny", Tensor((33, 31), scale=1e-3), 1, "The low part must be scaled to be seen."),
        _case("special bias", (8, 20, 60), 1, "NaN in the bias stays NaN.",
              bias=Tensor((60,), fill="special")),
        _case("views", (16, 48, 32), 1, "Transposed matrices, and a bias with gaps.", layout="transposed",
              bias=Tensor((32,), layout="strided")),
        Case("on the CPU", ON_CPU, "A GPU cannot follow a CPU pointer.", 1, "raise", others=ONE_ON_CPU),
        Case("bias on the CPU", BIAS_ON_CPU, "Nor can it follow one among others.", 1, "raise"),
    ),
    index="row_col",
    own="prepared",
    memory_points=1,
    parts=(
        Counters(
            _case("counted", COUNTED, 0, ""),
            (
                Bound("on tensor cores", "tensor_operations", TENSOR, 1,
                      "Tensor cores make all three products.", at_least=True),
                Bound("little beside them", "flops", THREADS, 1,
                      "Threads add up chunks, and leave the products to tensor cores.",
                      needs="on tensor cores"),
            ),
            (_other, _other_second),
        ),
        Ratio(
            _case("speed", (M, K, N), 0, ""),
            (1.0, 1.5, 2.0),
            "Faster than the framework's float32, at the same accuracy.",
            read_bytes=4 * (M * K + N * K + N),
            flops=2 * M * K * N,
        ),
    ),
    introduces=("split precision",),
    terms=("tensor cores", "promoted sum"),
    requires=("epilogue fusion", "shared-memory tile", "dtype dispatch", "roofline"),
    minutes=120,
    predictions=(
        Prediction(
            "lost_bits",
            "Half precision holds 11 bits, float32 24. The second of two halves holds the rest that the "
            "first leaves, which may be negative. How many of the 24 bits are lost at the most?",
            answer=1,
            why="11 and 11 bits, and the sign of the rest is worth one more.",
        ),
        Prediction(
            "products_of_tiles",
            "A warp makes 16 x 16 outputs with fragments of 16 x 16 x 16. Each output is a sum of 256 terms, "
            "in three products of halves. How often does the warp call mma_sync?",
            "calls",
            answer=48,
            why="256 terms are 16 steps of 16, with three products in each.",
        ),
        Prediction(
            "least_time",
            "On an H200 one product of halves at 1024 x 8192 x 8192 takes 176 us, eager's float32 product "
            "2689 us. How many times as fast can three products of halves be at most?",
            "times",
            answer=5.1,
            why="2689 / (3 * 176).",
        ),
        Prediction(
            "closer",
            "How many times smaller than eager's error against float64 is that of three products of halves, "
            "added up in short sums? (Below 1: it is larger.)",
            "times",
            answer="errors/eager : errors/split",
            why="5.1e-7 against 8.1e-8 at the end of the page: what counts is how the sums are rounded.",
        ),
    ),
    stages=(
        Stage("Two halves", 15, ("split", "split, tiny")),
        Stage(
            "Three products", 45,
            ("error", "odd sizes", "short sum", "long sum", "large", "tiny", "second model",
             "second model, long sum",
             "special bias", "on tensor cores", "little beside them"),
        ),
        Stage("Any input", 15, ("views", "on the CPU", "bias on the CPU", "memory")),
        Stage("Faster", 45, ("ratio",)),
    ),
    starter_fails="error",
)  # fmt: skip
