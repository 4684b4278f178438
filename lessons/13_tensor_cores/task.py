"""How lesson 13 is graded."""

from grader.domain.task import Case, Task, Tensor
from grader.referee.parts.ratio import Ratio


def _case(name: str, shape: tuple[int, int, int], points: int, why: str, scale: float = 1.0) -> Case:
    """``shape`` is rows, inner, columns."""
    m, k, n = shape
    return Case(name, (Tensor((m, k), scale=scale), Tensor((n, k)), Tensor((n,))), why, points)


def _split(name: str, x: Tensor, points: int, why: str) -> Case:
    return Case(name, (x,), why, points, entry="split")


def _second(name: str, points: int, why: str, factor: float) -> Case:
    x, weight, bias = _case(name, (24, 96, 40), 1, why).args
    return Case(name, (x, weight, bias, factor), why, points, entry="gemm_sigmoid")


M, K, N = 1024, 8192, 8192
ON_CPU = tuple(Tensor(shape, device="cpu") for shape in ((4, 8), (6, 8), (6,)))

TASK = Task(
    title="Tensor cores at full accuracy",
    entry="gemm_relu",
    cases=(
        _case("error", (32, 256, 48), 3, "As close to float64 as 20 times the error of eager float32."),
        _case("odd sizes", (33, 67, 35), 2, "Sizes that are no multiple of anything."),
        _case("short sum", (20, 3, 17), 1, "A sum shorter than a chunk."),
        _case("long sum", (8, 2048, 8), 2, "2048 products: errors add up, if the chunks are wrong."),
        _case("large", (16, 64, 24), 1, "Inputs near 1000, as large as half precision can bear.", 1e3),
        _case("tiny", (16, 64, 24), 1, "Inputs near 0.001, where half precision thins out.", 1e-3),
        _second("second model", 2, "Sigmoid, scale and residual of lesson 08 in the same kernel.", -0.75),
        _split("split", Tensor((33, 31)), 1, "High and low part, exactly."),
        _split("split, tiny", Tensor((33, 31), scale=1e-3), 1, "The low part must be scaled to be seen."),
        Case("on the CPU", ON_CPU, "A GPU cannot follow a CPU pointer.", 1, "raise"),
    ),
    index="row_col",
    memory_points=2,
    parts=(
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
    starter_fails="error",
)
