"""The logistic function in any float32 arithmetic."""

from grader.domain.task import Case, Task, Tensor

TASK = Task(
    title="sigmoid",
    entry="sigmoid",
    cases=(
        Case("ordinary", (Tensor((24, 33)),), "Values near 1.", 3),
        Case("large", (Tensor((24, 33), scale=1e3),), "Far beyond where exp() overflows.", 2),
        Case("tiny", (Tensor((24, 33), scale=1e-3),), "Values near 0.001.", 1),
    ),
)
