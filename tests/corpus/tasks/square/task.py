"""A small lesson 03: the file's own kernel squares every element."""

from grader.domain.task import Case, Task, Tensor

TASK = Task(
    title="square",
    entry="square",
    cases=(
        Case("whole blocks", (Tensor((16, 32)),), "Whole blocks.", 2),
        Case("ragged", (Tensor((37, 101)),), "Two primes.", 2),
        Case("one element", (Tensor((1, 1)),), "One.", 1),
        Case("large", (Tensor((17, 33), scale=1e3),), "Values near 1000.", 1),
        Case("nan and inf", (Tensor((19, 23), fill="special"),), "NaN and infinity.", 1),
        Case("transposed", (Tensor((30, 50), layout="transposed"),), "A transposed view.", 1),
        Case("every other", (Tensor((20, 40), layout="strided"),), "A view with gaps.", 1),
        Case("offset", (Tensor((16, 31), layout="offset"),), "A view inside its storage.", 1),
        Case("expanded", (Tensor((12, 31), layout="expanded"),), "One row, repeated with stride 0.", 1),
        Case("empty", (Tensor((0, 8)),), "Nothing.", 1),
        Case("on the CPU", (Tensor((4, 4), device="cpu"),), "Not on the GPU.", 1, "raise"),
    ),
    own="all",
    memory_points=2,
)
