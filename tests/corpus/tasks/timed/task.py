"""Element-wise work in any way that is right, timed on a GPU."""

from grader.domain.task import Case, Speed, Task, Tensor

FULL = Case("speed", (Tensor((2048, 2048)),), "", 0)
ELEMENTS = 4 * 2048 * 2048

TASK = Task(
    title="timed",
    entry="work",
    cases=(
        Case("whole blocks", (Tensor((64, 64)),), "Whole blocks.", 2),
        Case("ragged", (Tensor((37, 101)),), "Two primes.", 2),
        Case("again", (Tensor((37, 101)),), "Nothing may be remembered.", 1, calls=3),
    ),
    speed=Speed(
        case=Case("speed, small", (Tensor((64, 64)),), "", 0),
        full=FULL,
        eager_bytes=80 * ELEMENTS,
        fused_bytes=2 * ELEMENTS,
        case_bytes=2 * 4 * 64 * 64,
        eager_launches=30,
    ),
)
