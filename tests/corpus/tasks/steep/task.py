"""A steep exponential, by whoever: small elements lie beside others that are a billion times as large."""

from grader.domain.task import Case, Task, Tensor

TASK = Task(
    title="steep",
    entry="steep",
    cases=(
        Case("matrix", (Tensor((24, 100)),), "An ordinary matrix.", 3),
        Case("prime", (Tensor((37, 61)),), "Prime sizes.", 2),
        Case("tiny", (Tensor((24, 33), scale=1e-3),), "Values near 0.001.", 1),
        Case("to nothing", (Tensor((24, 33), scale=4.0),), "Values beyond float32 at both ends.", 1),
    ),
)
