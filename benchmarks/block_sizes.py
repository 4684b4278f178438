"""Time lesson 08's kernel for several block sizes in CUDA C++, Triton and numba, on a GPU.

    python3 benchmarks/block_sizes.py [benchmarks/results/block_sizes.json]

Needs the extra `jit`. Median and spread of 100 calls each, by events; inputs take turns, so that none is
in the cache.
"""

import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.utils.cpp_extension import load_inline

from grader.lesson_support.dialects import cuda, tl, triton

ROWS, COLUMNS, CALLS, INPUTS = 1024, 8192, 100, 8
BLOCKS = (32, 64, 128, 256, 512, 1024)
SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
__global__ void kernel(const float* x, float* out, float scale, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = scale / (1.0f + expf(-x[i])) + x[i];
}
void launch(torch::Tensor x, torch::Tensor out, double scale, int64_t threads) {
    const int64_t n = x.numel();
    kernel<<<(n + threads - 1) / threads, threads, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), out.data_ptr<float>(), scale, n);
}
"""


@triton.jit
def triton_kernel(x, out, scale, n, BLOCK: tl.constexpr):  # noqa: ANN001, ANN201, N803
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, scale / (1 + tl.exp(-v)) + v, mask=i < n)


def numba_kernel() -> Any:
    import math

    @cuda.jit
    def kernel(x, out, scale):  # noqa: ANN001, ANN202
        i = cuda.grid(1)
        if i < x.size:
            out[i] = scale / (1 + math.exp(-x[i])) + x[i]

    return kernel


def timed(call: Callable[[torch.Tensor], object], inputs: list[torch.Tensor]) -> dict[str, float]:
    for x in inputs:
        call(x)
    torch.cuda.synchronize()
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(2 * CALLS)]
    for k in range(CALLS):
        marks[2 * k].record()
        call(inputs[k % len(inputs)])
        marks[2 * k + 1].record()
    torch.cuda.synchronize()
    times = sorted(1e3 * marks[2 * k].elapsed_time(marks[2 * k + 1]) for k in range(CALLS))
    return {
        "median_us": round(statistics.median(times), 2),
        "p10_us": round(times[CALLS // 10], 2),
        "p90_us": round(times[-CALLS // 10], 2),
    }


def main(target: Path) -> None:
    inputs = [torch.randn(ROWS * COLUMNS, device="cuda") for _ in range(INPUTS)]
    out, n = torch.empty_like(inputs[0]), ROWS * COLUMNS
    declared = "void launch(torch::Tensor x, torch::Tensor out, double scale, int64_t threads);"
    own = load_inline("block_sizes", declared, SOURCE, functions=["launch"])
    by_numba, scale = numba_kernel(), 2.0
    found: dict[str, dict[str, Any]] = {"cuda": {}, "triton": {}, "numba": {}, "copy": {}}
    found["copy"]["all"] = timed(out.copy_, inputs)
    for block in BLOCKS:
        grid = triton.cdiv(n, block)
        found["cuda"][str(block)] = timed(lambda x, b=block: own.launch(x, out, scale, b), inputs)
        found["triton"][str(block)] = timed(
            lambda x, b=block, g=grid: triton_kernel[(g,)](x, out, scale, n, BLOCK=b), inputs
        )
        found["numba"][str(block)] = timed(lambda x, b=block, g=grid: by_numba[g, b](x, out, scale), inputs)
    result = {
        "what": f"sigmoid(x) * 2 + x on {ROWS} x {COLUMNS} float32, {CALLS} calls, by events",
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "command": "python3 benchmarks/block_sizes.py",
        "times": found,
    }
    target.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    if not torch.cuda.is_available():
        sys.exit("benchmarks/block_sizes.py needs a GPU: times of an interpreter say nothing.")
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "benchmarks/results/block_sizes.json"))
