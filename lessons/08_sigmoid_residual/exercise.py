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
    TORCH_CHECK(x.is_cuda(), "sigmoid_residual: x is on ", x.device(), ", not on a CUDA device");
    TORCH_CHECK(x.scalar_type() == torch::kFloat32, "sigmoid_residual: x is ", x.dtype(), ", not float32");
    x = x.contiguous();
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel(), threads = 256;
    if (n == 0) return out;
    sigmoid_residual_kernel<<<(n + threads - 1) / threads, threads, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), out.data_ptr<float>(), static_cast<float>(scale), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="lesson08_sigmoid_residual",
    cpp_sources="torch::Tensor sigmoid_residual(torch::Tensor x, double scale);",
    cuda_sources=cuda_source,
    functions=["sigmoid_residual"],
)
sigmoid_residual = extension.sigmoid_residual


class ModelNew(nn.Module):
    def __init__(self, input_size: int, hidden_size: int, scaling_factor: float) -> None:
        super().__init__()
        self.gemm = nn.Linear(input_size, hidden_size)
        self.scaling_factor = scaling_factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.gemm(x)  # TODO 3: hand this and the scaling factor to sigmoid_residual.


def test(kernel, claim):
    """Fails if a claim is not true of kernel(x, scale), which computes sigmoid(x) * scale + x."""
    x = torch.randn(33, 7, device="cuda") * 4
    if claim == "gradients":
        assert kernel(x.requires_grad_(), 2.0).requires_grad
    # TODO 4: empty (no rows: x[:0]) and repeatable (a second call, and x afterwards).
    # TODO 5: accurate (small and large x) and autocast (x.half()), against float64.
    # TODO 6: layout: views that are transposed, have gaps, or begin anywhere.
