"""A matrix product in any float32 arithmetic, by whoever."""

from grader.domain.task import Case, Task, Tensor

TASK = Task(
    title="gemm",
    entry="matmul",
    cases=(
        Case("deep", (Tensor((12, 1024)), Tensor((1024, 20))), "Long sums.", 3),
        Case("odd", (Tensor((17, 31)), Tensor((31, 13))), "Primes.", 2),
        Case("exact", (Tensor((8, 4096), fill="bits"), Tensor((4096, 8), fill="bits")), "Zeros and ones.", 2),
        Case("large", (Tensor((9, 64), scale=1e3), Tensor((64, 9), scale=1e3)), "Values near 1000.", 1),
    ),
    memory_points=2,
)
