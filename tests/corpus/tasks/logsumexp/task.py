"""The logarithm of the sum of exponentials of each row, by the file's own kernel."""

from grader.domain.task import Case, Task, Tensor

TASK = Task(
    title="logsumexp of rows",
    entry="logsumexp",
    cases=(Case("rows", (Tensor((48, 200)),), "A number a row.", 4),),
    own="all",
    memory_points=2,
)
