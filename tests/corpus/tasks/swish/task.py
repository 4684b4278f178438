"""A model whose own kernels compute x * sigmoid(x) and add a bias to each row."""

from grader.domain.task import Case, Task, Tensor

TASK = Task(
    title="swish",
    entry="ModelNew",
    kind="model",
    reference_entry="Model",
    cases=(
        Case("whole rows", (Tensor((32, 24)),), "Rows of whole float4.", 4, init=(24,)),
        Case("large", (Tensor((40, 48), scale=10.0),), "Values near 10.", 2, init=(48,)),
    ),
    own="all",
    memory_points=2,
)
