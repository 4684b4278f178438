"""Errors and times of expf and __expf, alone and in the kernel of lesson 08. Needs a GPU for its times.

    python3 benchmarks/expf.py [benchmarks/results/expf.json]

`./course run benchmarks/expf.py FILE` does it on the CPU back end, without times; __expf is modelled there.
"""

import json
import statistics
import sys
from pathlib import Path

import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
__global__ void kernel(const float* x, float* out, int64_t n, int64_t which) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float v = x[i];
    if (which == 0) out[i] = expf(v);
    if (which == 1) out[i] = __expf(v);
    if (which == 2) out[i] = 2.0f / (1.0f + expf(-v)) + v;
    if (which == 3) out[i] = 2.0f / (1.0f + __expf(-v)) + v;
}
void launch(torch::Tensor x, torch::Tensor out, int64_t which) {
    kernel<<<(x.numel() + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), out.data_ptr<float>(), x.numel(), which);
}
"""
NAMES = ("expf", "__expf", "sigmoid residual, expf", "sigmoid residual, __expf")
CALLS, INPUTS = 100, 8


def error(own, which: int, limit: float, points: int) -> float:  # noqa: ANN001
    """The largest error against float64 on [-limit, limit], relative to the value, or to 1 + its size."""
    x = torch.linspace(-limit, limit, points).cuda()
    out = torch.empty_like(x)
    own.launch(x, out, which)
    exact = x.double()
    right = torch.exp(exact) if which < 2 else 2 * torch.sigmoid(exact) + exact
    size = right.abs() if which < 2 else 1 + right.abs()
    return float(((out.double() - right).abs() / size).max())


def microseconds(own, which: int) -> dict[str, float]:  # noqa: ANN001
    inputs = [torch.randn(1024 * 8192, device="cuda") for _ in range(INPUTS)]
    out = torch.empty_like(inputs[0])
    for x in inputs:
        own.launch(x, out, which)
    torch.cuda.synchronize()
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(2 * CALLS)]
    for k in range(CALLS):
        marks[2 * k].record()
        own.launch(inputs[k % INPUTS], out, which)
        marks[2 * k + 1].record()
    torch.cuda.synchronize()
    times = sorted(1e3 * marks[2 * k].elapsed_time(marks[2 * k + 1]) for k in range(CALLS))
    return {"median": statistics.median(times), "p10": times[CALLS // 10], "p90": times[-CALLS // 10]}


if __name__ == "__main__":
    declared = "void launch(torch::Tensor x, torch::Tensor out, int64_t which);"
    own, gpu = (
        load_inline("expf", declared, SOURCE, functions=["launch"]),
        "simt" not in torch.cuda.get_device_name(),
    )
    found = {}
    for which, name in enumerate(NAMES):
        found[name] = {
            f"error within {limit}": error(own, which, limit, 1 << (24 if gpu else 12)) for limit in (10, 80)
        }
        if gpu:
            found[name]["microseconds"] = microseconds(own, which)
    facts = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "command": "python3 benchmarks/expf.py",
    }
    Path(sys.argv[1] if len(sys.argv) > 1 else "benchmarks/results/expf.json").write_text(
        json.dumps(facts | {"found": found}, indent=1) + "\n"
    )
    print(json.dumps(found, indent=1))
