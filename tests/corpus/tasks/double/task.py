"""Twice the input; torch may do the work. For submissions whose kernel is not the point."""

from grader.domain.task import Case, Task, Tensor

TASK = Task(
    title="double",
    entry="double",
    cases=(
        Case("matrix", (Tensor((12, 20)),), "An ordinary matrix.", 3),
        Case("prime", (Tensor((7, 13)),), "Prime sizes.", 2),
    ),
)
