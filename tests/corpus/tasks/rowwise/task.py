"""Softmax by the file's own kernel, of rows that are long for what is to be known of each."""

from grader.domain.task import Case, Task, Tensor

TASK = Task(
    title="softmax of many rows",
    entry="softmax",
    cases=(
        Case("many rows", (Tensor((40, 100)),), "More rows than a few.", 2),
        Case("longer rows", (Tensor((37, 129)),), "Odd sizes.", 2),
    ),
    own="all",
    memory_points=2,
)
