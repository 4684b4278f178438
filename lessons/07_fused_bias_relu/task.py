"""How lesson 07 is graded."""

from grader.domain.task import Case, Prediction, Speed, Task, Tensor


def _model(name: str, x: Tensor, out: int, points: int, why: str, calls: int = 1) -> Case:
    return Case(name, (x,), why, points, init=(x.shape[-1], out, (out,)), calls=calls)


M, K, N = 1024, 8192, 8192
ELEMENTS, BIAS = 4 * M * N, 4 * N  # bytes of the matrix and of the bias

TASK = Task(
    title="Fused bias and ReLU",
    entry="ModelNew",
    kind="model",
    reference_entry="Model",
    cases=(
        _model("rows of float4", Tensor((32, 64)), 128, 3, "Rows of whole 16-byte loads."),
        _model("odd sizes", Tensor((33, 31)), 127, 3, "Rows that float4 may not use."),
        _model("new weights", Tensor((8, 16)), 48, 2, "Nothing may be remembered between calls.", 3),
        _model("one element", Tensor((1, 1)), 1, 1, "One row, one column, one thread with work."),
        _model("one row", Tensor((1, 24)), 1021, 1, "A batch of one; a bias as long as the matrix."),
        _model("one column", Tensor((257, 8)), 1, 1, "Every element takes the same bias."),
        _model("large", Tensor((16, 32), scale=1e3), 60, 1, "Values near 1000."),
        _model("tiny", Tensor((16, 32), scale=1e-3), 60, 1, "Values near 0.001: mostly bias."),
        _model("exact bits", Tensor((16, 32), fill="bits"), 60, 1, "Inputs of exact zeros and ones."),
        _model("nan and inf", Tensor((64, 4), fill="special"), 36, 2, "ReLU of NaN is NaN."),
        _model("three dimensions", Tensor((3, 5, 16)), 20, 1, "Linear takes any leading dimensions."),
        _model("empty batch", Tensor((0, 16)), 32, 1, "No rows: a grid of zero blocks is a CUDA error."),
    ),
    own="elementwise",
    memory_points=2,
    speed=Speed(
        case=_model("speed, small", Tensor((64, 32)), 512, 0, ""),
        full=_model("speed", Tensor((M, K)), N, 0, ""),
        # eager: the addition reads matrix and bias and writes; ReLU reads and writes
        eager_bytes=(2 * ELEMENTS + BIAS) + 2 * ELEMENTS,
        fused_bytes=2 * ELEMENTS + BIAS,
        case_bytes=4 * (2 * 64 * 512 + 512),
        eager_launches=2,
        flops=2 * M * N * K,
        broadcast=M * N,  # the bias has one row, the matrix M
    ),
    introduces=("fusion",),
    terms=("bytes moved", "ModelNew", "Amdahl's law"),
    requires=("kernel launch", "guard", "tensor checks", "current stream"),
    minutes=45,
    starter_fails="rows of float4",
    predictions=(
        Prediction(
            "kernel_ratio", "Bias and ReLU alone: how many times faster than PyTorch's two kernels?", "times"
        ),
        Prediction(
            "whole_ratio", "The whole model, matrix product included: how many times faster?", "times"
        ),
    ),
)
