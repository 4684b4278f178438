"""How lesson 03 is graded."""

from grader.domain.task import Case, Prediction, Speed, Stage, Task, Tensor
from grader.referee.parts.answers import PlainCalls

FULL = (4096, 4096)
TALLEST = 500_000  # rows: a grid has no more than 65,535 blocks in y
BYTES = 2 * 4 * FULL[0] * FULL[1]  # each float32 element is read once and written once

TASK = Task(
    title="A square kernel",
    entry="square_matrix",
    cases=(
        Case("whole blocks", (Tensor((32, 64)),), "Every 16 x 16 block is full.", 1),
        Case("ragged edges", (Tensor((37, 101)),), "Two primes: the last blocks hang over both edges.", 1),
        Case("one element", (Tensor((1, 1)),), "255 of the 256 threads have nothing to do.", 1),
        Case(
            "one row",
            (Tensor((1, 16411)),),
            "Many columns, one row: x and y not swapped?",
            1,
            others=((Tensor((2, 70_001)),),),  # more columns than 16 bits count
        ),
        Case("one column", (Tensor((4099, 1)),), "Many rows and one column.", 1),
        Case(
            "tall and wide",
            (Tensor((TALLEST, 1)),),
            "A grid has at most 65,535 blocks in y, and two thousand million in x.",
            1,
            others=((Tensor((1, 2_000_000)),),),
            launched=True,
        ),
        Case("tiny values", (Tensor((17, 33), scale=1e-3),), "Values near 0.001: squares near 1e-6.", 1),
        Case("large values", (Tensor((17, 33), scale=1e3),), "Values near 1000: squares near a million.", 1),
        Case("nan and inf", (Tensor((19, 23), fill="special"),), "NaN and infinity are passed on.", 1),
        Case("transposed", (Tensor((30, 50), layout="transposed"),), "A transposed view, not contiguous.", 1),
        Case(
            "every other",
            (Tensor((20, 40), layout="strided"),),
            "A view with gaps between its elements.",
            1,
            others=((Tensor((20, 40), layout="expanded"),),),
        ),
        Case("offset", (Tensor((16, 31), layout="offset"),), "A view that starts inside its storage.", 1),
        Case(
            "empty",
            (Tensor((0, 8)),),
            "No elements: a grid of zero blocks is a CUDA error.",
            1,
            others=((Tensor((8, 0)),),),
        ),
        Case(
            "on the CPU",
            (Tensor((4, 4), device="cpu"),),
            "A GPU cannot follow a CPU pointer.",
            1,
            "raise",
            others=((Tensor((0, 4), device="cpu"),),),
            compiled=True,
        ),
        Case(
            "float64",
            (Tensor((4, 4), dtype="float64"),),
            "The kernel reads floats, and no other numbers.",
            1,
            "raise",
            others=(
                *((Tensor((4, 4), dtype=other),) for other in ("float16", "int32", "bool")),
                (Tensor((0, 4), dtype="float64"),),
            ),
            compiled=True,
        ),
        Case(
            "three dimensions",
            (Tensor((2, 3, 4)),),
            "The kernel knows two.",
            1,
            "raise",
            others=((Tensor((2, 0, 3)),), (Tensor((5,)),), (Tensor((0,)),)),
            compiled=True,
        ),
    ),
    index="row_col",
    own="all",
    memory_points=2,
    stream_points=1,
    parts=(
        PlainCalls(
            "owner",
            "owner",
            ((37, 100), (0, 0), (0, 15), (0, 16), (16, 0)),  # first one of four different entries
            lambda row, col: [col // 16, row // 16, col % 16, row % 16],
            1,
            "Blocks of 16 x 16 threads: x along the columns, y down the rows.",
            whole=True,
            draw=lambda rng: (int(rng.integers(10_000)), int(rng.integers(10_000))),
        ),
    ),
    speed=Speed(
        case=Case("speed, small", (Tensor((256, 256)),)),
        full=Case("speed", (Tensor(FULL),)),
        eager_bytes=BYTES,
        fused_bytes=BYTES,
        case_bytes=2 * 4 * 256 * 256,
    ),
    introduces=("kernel launch",),
    terms=("2-D index", "tensor checks", "stream", "current stream"),
    requires=("load_inline", "binding", "block and thread", "guard"),
    minutes=75,
    stages=(
        Stage("The grid on paper", 10, ("owner",)),
        Stage(
            "The kernel",
            30,
            (
                "whole blocks",
                "ragged edges",
                "one element",
                "one row",
                "one column",
                "tall and wide",
                "tiny values",
                "large values",
                "nan and inf",
            ),
        ),
        Stage(
            "The safety lines",
            35,
            (
                "transposed",
                "every other",
                "offset",
                "empty",
                "on the CPU",
                "float64",
                "three dimensions",
                "streams",
                "memory",
            ),
        ),
    ),
    starter_fails="whole blocks",
    predictions=(
        Prediction(
            "surplus",
            "37 rows and 101 columns under blocks of 16 x 16: how many threads have no element?",
            "threads",
            1639,
            "7 x 3 blocks have 5376 threads, and the matrix has 3737 elements.",
        ),
        Prediction(
            "past_the_end",
            "How many of them would go past the end of the matrix, if there were no guard?",
            "threads",
            1243,
            "11 right of the last row and 11 rows of 112 below it. The other 396 meet the next row.",
        ),
        Prediction(
            "kernel_ratio",
            "4096 x 4096 floats: how many times as fast as PyTorch's x * x is your kernel? (1: equally fast)",
            "times",
        ),
    ),
)
