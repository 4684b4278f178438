"""Softmax of long rows: every value is small, so a fixed tolerance would accept zeros."""

from grader.domain.task import Case, Task, Tensor

TASK = Task(
    title="softmax",
    entry="softmax",
    cases=(
        Case("long rows", (Tensor((6, 1000)),), "Values near 0.001.", 3),
        Case("short rows", (Tensor((33, 7)),), "Seven columns.", 2),
        Case("far apart", (Tensor((5, 64), scale=600.0),), "exp() of such values overflows.", 2),
    ),
    memory_points=2,
)
