"""One kernel, five ways from its text to a callable: seconds of each, in new processes with empty caches.

    python benchmarks/inline_ways.py OUT [TIMES]

Each way squares a vector and is checked. Needs a GPU; ways whose package is not installed are left out.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from grader.backends import detect
from grader.backends.cuda.compile import fast_build, tools
from grader.backends.simt.compile import toolchain
from grader.domain import disk

ROOT = Path(__file__).resolve().parents[1]
KERNEL = (
    "__global__ void square(const float* x, float* out, int n) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) out[i] = x[i] * x[i];\n"
    "}\n"
)
HOST = (
    "torch::Tensor run(torch::Tensor x) {\n"
    "    auto out = torch::empty_like(x);\n"
    "    int n = x.numel();\n"
    "    square<<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(\n"
    "        x.data_ptr<float>(), out.data_ptr<float>(), n);\n"
    "    return out;\n"
    "}\n"
)
START = """
import sys, time, torch
torch.cuda.init()
x = torch.arange(1000, device="cuda", dtype=torch.float32)
KERNEL, HOST, NUMBER = {kernel!r}, {host!r}, {number!r}
KERNEL = KERNEL.replace("x[i] * x[i]", "x[i] * x[i] + 0.0f * " + NUMBER)  # nothing is in a cache
"""
END = """
torch.cuda.synchronize()
print("SECONDS", time.perf_counter() - begun)
assert torch.equal(out, x * x), out
"""
TORCH = """
from {module} import load_inline
begun = time.perf_counter()
module = load_inline(name="ways" + NUMBER, cpp_sources=[{cpp!r}], cuda_sources=[{head!r} + KERNEL + HOST],
                     functions={functions}{more})
out = module.run(x)
"""
DECLARED = "torch::Tensor run(torch::Tensor x);"
CONTEXT = "#include <ATen/cuda/CUDAContext.h>\n"
NARROW = (
    "#include <ATen/core/Tensor.h>\n#include <ATen/ops/empty_like.h>\n#include <ATen/cuda/CUDAContext.h>\n"
)
NAMES = "namespace torch { using namespace at; }\n"
OF_TORCH = "torch.utils.cpp_extension"
TVM = """
import tvm_ffi.cpp
SOURCE = KERNEL + '''
void run(tvm::ffi::TensorView x, tvm::ffi::TensorView out) {
  int n = x.size(0);
  square<<<(n + 255) / 256, 256>>>((float*)x.data_ptr(), (float*)out.data_ptr(), n);
}
'''
begun = time.perf_counter()
module = tvm_ffi.cpp.load_inline(name="ways" + NUMBER, cuda_sources=SOURCE, functions=["run"])
out = torch.empty_like(x)
module.run(x, out)
"""
NVRTC = """
begun = time.perf_counter()
kernel = torch.cuda._compile_kernel('extern "C" ' + KERNEL, "square")
out = torch.empty_like(x)
kernel(grid=(4, 1, 1), block=(256, 1, 1), args=(x, out, 1000))
"""
WAYS = {
    "grader.load_inline": TORCH.format(
        module="grader", cpp=DECLARED, head=CONTEXT, functions=["run"], more=""
    ),
    "torch load_inline": TORCH.format(
        module=OF_TORCH, cpp=DECLARED, head=CONTEXT, functions=["run"], more=""
    ),
    "torch load_inline, no_implicit_headers": TORCH.format(
        module=OF_TORCH,
        cpp=f"#include <torch/csrc/utils/pybind.h>\n{NAMES}{DECLARED}\n"
        "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"run\", &run); }\n",
        head=NARROW + NAMES,
        functions=None,
        more=", no_implicit_headers=True",
    ),
    "tvm_ffi.cpp.load_inline": TVM,
    "torch.cuda._compile_kernel": NVRTC,
}  # fmt: skip


def seconds(way: str, number: int) -> float | str:
    """Seconds from the text to the first result; or why there are none."""
    script = START.format(kernel=KERNEL, host=HOST, number=str(number)) + WAYS[way] + END
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {
            "TORCH_EXTENSIONS_DIR": folder, "TVM_FFI_CACHE_DIR": folder, "CUDA_CACHE_PATH": folder,
            "TORCH_CUDA_ARCH_LIST": detect.gpu_capability(), "PYTHONPATH": str(ROOT),
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, env=env, check=False, timeout=300
        )
    found = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("SECONDS")]
    return (
        float(found[0]) if found and not done.returncode else (done.stderr.strip().splitlines() or ["?"])[-1]
    )


def main() -> None:
    """Measure each way so many times, and write one JSON file."""
    out, times = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3
    prepared = fast_build.prepare(print)
    rows: dict[str, Any] = {}
    for way in WAYS:
        said = [seconds(way, number) for number in range(times)]
        known = [s for s in said if isinstance(s, float)]
        rows[way] = {"seconds": said, "median": statistics.median(known) if known else None}
        print(way, rows[way], flush=True)
    report = {
        "command": f"python benchmarks/inline_ways.py OUT {times}", "device": detect.gpu_name(),
        "cores": os.cpu_count(), "torch": toolchain.installed().version,
        "nvcc": tools.toolkit().version.splitlines()[-1], "prepare_seconds": prepared, "ways": rows,
    }  # fmt: skip
    disk.write(out, json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
