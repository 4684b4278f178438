"""Lesson 08: Gemm by the library; sigmoid, scale and residual by one kernel instead of three."""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

// region: kernel
__device__ float sigmoid_residual_one(float x, float scale) {
    // starter: return x;  // TODO 1: sigmoid(x) * scale + x, right for x = -1000 and x = 1000 too.
    // solution: begin
    return scale / (1.0f + expf(-x)) + x;  // expf(1000) is infinity, and scale / infinity is the 0 we want
    // solution: end
}

__global__ void sigmoid_residual_kernel(const float* x, float* out, float scale, int64_t n) {
    // starter: // TODO 2: one thread, one element i of n.
    // solution: begin
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = sigmoid_residual_one(x[i], scale);
    // solution: end
}
// endregion

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


# region: model
class ModelNew(nn.Module):
    def __init__(self, input_size: int, hidden_size: int, scaling_factor: float) -> None:
        super().__init__()
        self.gemm = nn.Linear(input_size, hidden_size)
        self.scaling_factor = scaling_factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # starter: return self.gemm(x)  # TODO 3: hand this and the scaling factor to sigmoid_residual.
        # solution: begin
        return sigmoid_residual(self.gemm(x), self.scaling_factor)
        # solution: end


# endregion
# region: claims
def test(kernel, claim):
    """Fails if a claim is not true of kernel(x, scale), which computes sigmoid(x) * scale + x."""
    x = torch.randn(33, 7, device="cuda") * 4
    if claim == "gradients":
        assert kernel(x.requires_grad_(), 2.0).requires_grad
    # starter: # TODO 4: empty (no rows: x[:0]) and repeatable (a second call, and x afterwards).
    # starter: # TODO 5: accurate (small and large x) and autocast (x.half()), against float64.
    # starter: # TODO 6: layout: views that are transposed, have gaps, or begin anywhere.
    # solution: begin
    elif claim == "empty":
        assert kernel(x[:0], 2.0).shape == (0, 7)
    elif claim == "repeatable":
        kept, first, again = x.clone(), kernel(x, 2.0), kernel(x, 2.0)
        assert torch.equal(x, kept) and torch.equal(first, again)
    elif claim == "accurate":
        for size in (1e-3, 1, 10, 1e3):
            close(kernel(x * size, 2.0), x * size, 1e-6)
    elif claim == "autocast":
        with torch.autocast("cuda"):
            close(kernel(x.half(), 2.0), x.half(), 1e-3)
    elif claim == "layout":
        for view in (x.t(), x[:, ::2], x[1:, 1:], x.flatten()[1:].view(-1, 2)):
            close(kernel(view, 2.0), view, 1e-6)


def close(out, x, allowed):
    best = torch.sigmoid(x.double()) * 2.0 + x.double()
    assert out.shape == x.shape and ((out - best).abs() <= allowed * (1 + best.abs())).all()
    # solution: end


# endregion
