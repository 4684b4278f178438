"""Lesson 08: Gemm by the library; sigmoid, scale and residual by one kernel instead of three."""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

__device__ float sigmoid_residual_one(float x, float scale) {
    return x;  // TODO 1: sigmoid(x) * scale + x, right for x = -1000 and x = 1000 too.
}

__global__ void sigmoid_residual_kernel(const float* x, float* out, float scale, int64_t n) {
    // TODO 2: one thread, one element i of n.
}

torch::Tensor sigmoid_residual(torch::Tensor x, double scale) {
    // TODO 3: refuse what the kernel cannot read (not CUDA, not float32); make x contiguous.
    torch::Tensor out = torch::empty_like(x);
    // TODO 4: nothing to do if x is empty; else launch on the current stream, check the launch.
    return out;
}
"""

extension = load_inline(
    name="lesson08_sigmoid_residual",
    cpp_sources="torch::Tensor sigmoid_residual(torch::Tensor x, double scale);",
    cuda_sources=cuda_source,
    functions=["sigmoid_residual"],
)


class ModelNew(nn.Module):
    def __init__(self, input_size: int, hidden_size: int, scaling_factor: float) -> None:
        super().__init__()
        self.gemm = nn.Linear(input_size, hidden_size)
        self.scaling_factor = scaling_factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.gemm(x)  # TODO 5: hand this and the scaling factor to the extension.


def test(kernel, claim):
    """Fails if a claim is not true of kernel(x, scale), which computes sigmoid(x) * scale + x."""
    x = torch.randn(33, 7, device="cuda") * 4
    # TODO 6: for each claim an input, and what must hold of kernel(input, 2.0).
    # gradients, autocast (x.half()), empty, layout, accurate (small and large x), repeatable
    assert kernel(x, 2.0).shape == x.shape
