"""How lesson 08 is graded."""

from grader.task import Case, Prediction, Speed, Task, Tensor


def _model(
    name: str, x: Tensor, out: int, points: int, why: str, scaling: float = 2.0, calls: int = 1
) -> Case:
    return Case(name, (x,), why, points, init=(x.shape[-1], out, scaling), calls=calls)


M, K, N = 1024, 8192, 8192
ELEMENTS = 4 * M * N  # bytes of the matrix

TASK = Task(
    title="Sigmoid, scale, residual",
    entry="ModelNew",
    kind="model",
    reference_entry="Model",
    cases=(
        _model("whole blocks", Tensor((32, 64)), 128, 3, "Whole blocks of whole 16-byte loads."),
        _model("odd sizes", Tensor((33, 31)), 127, 3, "4191 elements: three left over by float4."),
        _model("other factor", Tensor((9, 16)), 33, 2, "The factor is the model's, not a 2.", -0.75),
        _model("new weights", Tensor((8, 16)), 48, 2, "Nothing may be remembered between calls.", calls=3),
        _model("one element", Tensor((1, 1)), 1, 1, "One element: fewer than one 16-byte load."),
        _model("large", Tensor((16, 32), scale=1e3), 61, 2, "Sums near 1000: exp overflows."),
        _model("tiny", Tensor((16, 32), scale=1e-3), 61, 1, "Inputs near 0.001."),
        _model("exact bits", Tensor((16, 32), fill="bits"), 60, 1, "Inputs of exact zeros and ones."),
        _model("nan and inf", Tensor((64, 4), fill="special"), 36, 1, "NaN and infinity are passed on."),
        _model("three dimensions", Tensor((3, 5, 16)), 20, 1, "Linear takes any leading dimensions."),
        _model("empty batch", Tensor((0, 16)), 32, 1, "No rows: a grid of zero blocks is a CUDA error."),
    ),
    own="elementwise",
    memory_points=2,
    speed=Speed(
        case=_model("speed, small", Tensor((64, 32)), 512, 0, ""),
        full=_model("speed", Tensor((M, K)), N, 0, ""),
        # eager: sigmoid reads and writes, the product reads and writes, the sum reads two and writes one
        eager_bytes=7 * ELEMENTS,
        fused_bytes=2 * ELEMENTS,
        case_bytes=4 * 2 * 64 * 512,
        eager_launches=3,
        flops=2 * M * N * K,
    ),
    introduces=("overflow-safe sigmoid", "claims as tests"),
    requires=("fusion", "bytes moved", "ModelNew", "Amdahl's law"),
    minutes=40,
    starter_fails="whole blocks",
    predictions=(
        Prediction(
            "kernel_ratio",
            "Sigmoid, scale and residual alone: how many times faster than PyTorch's kernels?",
            "times",
        ),
        Prediction(
            "whole_ratio", "The whole model, matrix product included: how many times faster?", "times"
        ),
    ),
)
