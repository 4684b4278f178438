"""How lesson 11 is graded: one kernel in two dialects, its launches, and generated code read."""

from pathlib import Path

from grader.domain.exercise_stage import Stage
from grader.domain.task import Case, Prediction, Task, Tensor
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
    minutes=85,
    predictions=(
        Prediction(
            "generated_kernels",
            "For the model of lesson 07 (product, bias, ReLU), how many kernels does torch.compile generate?",
            answer=1,
            why="The product is a call of the library; bias and ReLU are one generated kernel.",
        ),
        Prediction(
            "softmax_kernels",
            "How many kernels does it generate for softmax over rows of 384 numbers?",
            answer=1,
            why="A program keeps its row while it finds the maximum and the sum.",
        ),
        Prediction(
            "small_blocks",
            "How many times as long does an element-wise kernel take with blocks of 32 as with 128 (H200)?",
            "times",
            answer=3.7,
            why="161.6 us against 43.6 us: with small blocks the limit is how fast the GPU can start them.",
        ),
    ),
    stages=(
        Stage(
            "Two dialects",
            40,
            (
                "Triton, odd size",
                "Triton, every other",
                "Triton, large",
                "numba, odd size",
                "numba, transposed",
                "launch of Triton",
                "launch of numba",
            ),
        ),
        Stage("Generated code", 45, (*KEYS, "recorded code", "fresh code")),
    ),
    starter_fails="Triton, odd size",
    packages=("triton", "numba"),
)
