"""How lesson 10 is graded."""

from grader.domain.exercise_stage import Stage
from grader.domain.task import Case, Prediction, Task, Tensor
from grader.referee.parts.operator import Operator, Property

DOUBLE = Tensor((21, 33), dtype="float64", fill="uniform", scale=4.0)

TASK = Task(
    title="Fit for production",
    entry="sigmoid_residual",
    cases=(
        Case("transposed", (Tensor((30, 50), layout="transposed"), -0.75), "A transposed view.", 1),
        Case("every other", (Tensor((20, 40), layout="strided"), 1.5), "A view with gaps.", 1),
        Case("expanded", (Tensor((18, 40), layout="expanded"), 1.5), "One row seen 18 times: stride 0.", 1),
        Case(
            "offset",
            (Tensor((16, 31), layout="offset", scale=100.0), 1.5),
            "Starts inside its storage; exp overflows.",
            1,
        ),
        Case(
            "empty",
            (Tensor((0, 8)), 2.0),
            "No elements: a grid of zero blocks is a CUDA error.",
            1,
            others=((Tensor((8, 0)), 2.0),),
        ),
        Case(
            "float16", (Tensor((21, 33), dtype="float16"), 2.0), "Half precision in, half precision out.", 1
        ),
        Case("float64", (DOUBLE, 0.1), "Double precision all the way.", 1),
        Case("integers", (Tensor((4, 4), dtype="int64"), 2.0), "There is no sensible answer.", 1, "raise"),
        Case("on the CPU", (Tensor((4, 4), device="cpu"), 2.0), "There is no kernel for it.", 1, "raise"),
    ),
    own="all",
    memory_points=1,
    stream_points=1,
    parts=(
        Operator(
            "sigmoid_residual",
            (
                Property(
                    "half precision",
                    "rounded_once",
                    1,
                    "float16 and bfloat16 stay, and are rounded once: the arithmetic is done in float32.",
                ),
                Property("gradient", "gradient", 1, "The gradient must flow, and be right: gradcheck."),
                Property(
                    "opcheck", "registered", 1, "Schema, fake function and autograd must agree: opcheck."
                ),
                Property("compile", "compiled", 1, "torch.compile(fullgraph=True) must trace through it."),
                Property("autocast", "autocast", 1, "Autocast must know that this operator wants float32."),
                Property("device", "device", 1, "The kernel must run on the device of x."),
                Property(
                    "huge", "huge", 1, "More than 2^31 elements need a 64-bit index.", gpu=True, before="wide"
                ),
            ),
        ),
        Operator(
            "stable",
            (
                Property(
                    "stable operator",
                    "stable_operator",
                    1,
                    "The operator for float32, registered from C++: any layout and size, on the device of x.",
                ),
                Property(
                    "stable ABI",
                    "stable_abi",
                    1,
                    "Its library must need nothing of PyTorch's C++, which changes from version to version.",
                ),
            ),
        ),
    ),
    introduces=("custom operator",),
    terms=("dtype dispatch", "fake function", "autocast rule", "stable ABI"),
    requires=("overflow-safe sigmoid", "current stream", "tensor checks"),
    minutes=100,
    predictions=(
        Prediction(
            "gigabytes",
            "An int index of element 2^31 becomes -2^31. How far before a float32 tensor is that write?",
            "GB",
            answer=8.6,
            why="2^31 elements of 4 bytes are 8.6 GB; the guard i < n lets a negative index through.",
        ),
        Prediction(
            "backward_bytes",
            "The forward reads x and writes the result. How many times these bytes does a backward move?",
            "times",
            answer=1.5,
            why="It reads x and the incoming gradient and writes one tensor: three passes instead of two.",
        ),
        Prediction(
            "derivative_launches",
            "In PyTorch the derivative is grad * (scale * s * (1 - s) + 1), with s = sigmoid(x). "
            "How many kernels does eager launch for it?",
            answer=6,
            why="sigmoid, 1 - s, two products, + 1, and the product with grad: one kernel each.",
        ),
    ),
    stages=(
        Stage(
            "The kernel's contract",
            35,
            (
                "transposed",
                "every other",
                "expanded",
                "offset",
                "empty",
                "float16",
                "float64",
                "integers",
                "on the CPU",
                "streams",
                "memory",
                "half precision",
                "device",
                "huge",
            ),
        ),
        Stage("Known to PyTorch", 40, ("gradient", "opcheck", "compile", "autocast")),
        Stage("A stable binary", 25, ("stable operator", "stable ABI")),
    ),
    starter_fails="every other",
)
