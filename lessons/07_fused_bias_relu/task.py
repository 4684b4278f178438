"""How lesson 07 is graded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.domain.exercise_stage import Stage
from grader.domain.task import Case, Fill, Layout, Prediction, Speed, Task, Tensor
from grader.referee.parts.counters import Bound, Counters

if TYPE_CHECKING:
    import numpy as np


def _model(name: str, x: Tensor, out: int, points: int, why: str, calls: int = 1) -> Case:
    return Case(name, (x,), why, points, init=(x.shape[-1], out, (out,)), calls=calls)


def _alone(
    name: str, shape: tuple[int, int], why: str, *,
    x: Layout = "contiguous", bias: Layout = "contiguous", fill: Fill = "normal", scale: float = 1.0,
) -> Case:  # fmt: skip
    """The two small operations without the model: only so can memory begin at an odd address."""
    matrix = Tensor(shape, layout=x, fill=fill, scale=scale)
    column_bias = Tensor(shape[1:], layout=bias, fill=fill, scale=scale)
    return Case(name, (matrix, column_bias), why, entry="bias_relu")


def _another(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    rows, cols = int(rng.integers(20, 90)), 4 * int(rng.integers(40, 170))
    of_a_row = -(-cols // 128)
    return _alone(f"{rows} x {cols}", (rows, cols), ""), (2 * rows * of_a_row + 4, rows * of_a_row + 4)


def _odd_rows(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    """Rows that are no whole float4: fewer numbers a request, but no number is loaded or stored twice."""
    rows, cols = int(rng.integers(20, 90)), 2 * int(rng.integers(80, 170)) + 1
    requests = rows * cols * 13 // 320
    return _alone(f"{rows} x {cols}", (rows, cols), ""), (2 * requests, requests)


M, K, N = 1024, 8192, 8192
ELEMENTS, BIAS = 4 * M * N, 4 * N  # bytes of the matrix and of the bias
SMALL = 64 * 512  # elements of the counted case

TASK = Task(
    title="Fused bias and ReLU",
    entry="ModelNew",
    kind="model",
    same_names=True,
    reference_entry="Model",
    cases=(
        _model("rows of float4", Tensor((32, 64)), 128, 2, "Rows of whole 16-byte loads."),
        _model("odd sizes", Tensor((33, 31)), 127, 1, "Rows that are no whole number of float4."),
        _model("new weights", Tensor((8, 16)), 48, 1, "Nothing may be remembered between calls.", 3),
        _model("one element", Tensor((1, 1)), 1, 1, "One row, one column, one thread with work."),
        _model("one column", Tensor((257, 8)), 1, 1, "Every element takes the same bias."),
        _model("many blocks", Tensor((301, 8)), 1021, 1, "307,321 elements: a grid that follows the size."),
        _model("large", Tensor((1056, 8), scale=1e3), 1020, 1, "269,280 float4, with values near 1000."),
        replace(
            _alone("tiny", (16, 62), "One row of 62 is not whole float4, two are; tiny values.", scale=1e-33),
            # More rows than a grid has blocks in y, and more columns than 16 bits count.
            others=(_alone("", (70_000, 3), "").args, _alone("", (2, 70_001), "").args),
        ),
        _model("exact bits", Tensor((16, 32), fill="bits"), 60, 1, "Inputs of exact zeros and ones."),
        _model("nan and inf", Tensor((64, 4), fill="special"), 36, 1, "ReLU of NaN is NaN."),
        replace(
            _model("three dimensions", Tensor((3, 5, 16)), 20, 1, "Linear takes any leading dimensions."),
            others=((Tensor((3, 5, 16), layout="transposed"),),),
        ),
        replace(
            _model("empty batch", Tensor((0, 16)), 32, 1, "No rows: a grid of zero blocks is a CUDA error."),
            others=((Tensor((3, 0, 16)),),),
        ),
        _alone("views", (30, 52), "A transposed matrix, a bias with NaN.", x="transposed", fill="special"),
        replace(
            # Of the first case's sizes: that they fit is no property of sizes.
            _alone("odd address", (32, 128), "Rows of float4 that begin at an odd address.", x="offset"),
            others=(_alone("", (32, 128), "", x="offset by two").args,),
        ),
        replace(
            _alone("odd bias", (32, 128), "The bias may begin at an odd address, too.", bias="offset"),
            others=tuple(_alone("", (32, 128), "", bias=b).args for b in ("offset by two", "strided")),
        ),
    ),
    own="fused",
    memory_points=1,
    stream_points=1,
    parts=(
        Counters(
            _alone("counted", (64, 512), ""),
            (
                Bound("wide loads", "global_load_requests", 2 * SMALL // 128, 1,
                      "A warp asks for 128 numbers at once: one request for x, one for the bias."),
                Bound("wide stores", "global_store_requests", SMALL // 128, 1,
                      "A warp stores 128 numbers with one request."),
            ),
            (_another, _odd_rows),
        ),
    ),
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
    terms=("bytes moved", "float4", "KernelBench", "ModelNew", "Amdahl's law"),
    requires=("kernel launch", "guard", "tensor checks", "current stream"),
    minutes=80,
    stages=(
        Stage("One element a thread", 45, (
            "rows of float4", "odd sizes", "new weights", "one element", "one column", "many blocks", "large",
            "tiny", "exact bits", "nan and inf", "three dimensions", "empty batch", "views", "streams",
            "memory",
        )),
        Stage("Four at a time", 35, ("odd address", "odd bias", "wide loads", "wide stores")),
    ),
    starter_fails="rows of float4",
    predictions=(
        Prediction(
            "kernel_ratio",
            "Bias and ReLU alone: how many times as fast as PyTorch's two kernels is one fused kernel?",
            "times",
        ),
        Prediction(
            "whole_ratio",
            "The whole model, matrix product included: how many times as fast is it then?",
            "times",
        ),
        Prediction(
            "fewer_requests",
            "A warp is 32 threads, and one load of a warp is one request. How many times fewer requests does "
            "a kernel make whose threads read four floats at once instead of one?",
            "times",
            answer=4.0,
            why="A warp asks for 32 floats at a time, or for 128. The bytes are the same.",
        ),
    ),
)  # fmt: skip
