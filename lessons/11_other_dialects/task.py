"""How lesson 11 is graded: one kernel in two dialects, its launches, and generated code read."""

from pathlib import Path

from grader.domain.task import Case, Task, Tensor
from grader.referee.parts.dialect_checks import Launches
from grader.referee.parts.generated_code import KEYS, Reader, questions
from grader.referee.parts.questions import Quiz

CODE = str(Path(__file__).parent / "data" / "output_code.txt")


def _case(name: str, dialect: str, x: Tensor, points: int, why: str) -> Case:
    return Case(f"{dialect}, {name}", (x, 1.5), why, points, entry=f"by_{dialect.lower()}")


TASK = Task(
    title="Other dialects",
    entry="by_triton",
    cases=(
        _case("odd size", "Triton", Tensor((19, 53)), 2, "1007 elements: the last program is not full."),
        _case("every other", "Triton", Tensor((24, 40), layout="strided"), 1, "A view with gaps."),
        _case("large", "Triton", Tensor((16, 16), scale=1e3), 1, "Sums near 1000: exp overflows."),
        _case("odd size", "numba", Tensor((19, 27)), 2, "513 elements: one thread in the last block works."),
        _case("transposed", "numba", Tensor((9, 14), layout="transposed"), 1, "A transposed view."),
    ),
    parts=(
        Launches("launch of Triton", "by_triton", "triton_kernel", 2),
        Launches("launch of numba", "by_numba", "numba_kernel", 2, threads=True),
        Quiz(
            CODE,
            keys=KEYS,
            ask=questions,
            why="A number read from the recorded code.",
            look="Look at the function call() of that graph.",
        ),
        Reader(CODE),
    ),
    introduces=("kernel language",),
    terms=("Triton", "numba kernel", "block size as a parameter", "generated code"),
    requires=("overflow-safe sigmoid", "guard", "fusion", "occupancy"),
    minutes=60,
    starter_fails="Triton, odd size",
    packages=("triton", "numba"),
)
