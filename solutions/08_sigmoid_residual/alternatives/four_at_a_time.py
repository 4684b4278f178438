"""Four elements a thread where the address allows it, and the last one to three by the first threads."""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

__device__ float sigmoid_residual_one(float x, float scale) {
    return scale / (1.0f + expf(-x)) + x;  // expf(1000) is infinity, and scale / infinity is the 0 we want
}

__global__ void sigmoid_residual_kernel(const float* x, float* out, float scale, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = sigmoid_residual_one(x[i], scale);
}

// Thread i takes four neighbours in one 16-byte load; the last n % 4 elements go to the first threads.
__global__ void sigmoid_residual_kernel4(const float* x, float* out, float scale, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n / 4) {
        const float4 v = reinterpret_cast<const float4*>(x)[i];
        reinterpret_cast<float4*>(out)[i] = make_float4(
            sigmoid_residual_one(v.x, scale), sigmoid_residual_one(v.y, scale),
            sigmoid_residual_one(v.z, scale), sigmoid_residual_one(v.w, scale));
    }
    if (i < n % 4) out[n - 1 - i] = sigmoid_residual_one(x[n - 1 - i], scale);
}

torch::Tensor sigmoid_residual(torch::Tensor x, double scale) {
    TORCH_CHECK(x.is_cuda(), "sigmoid_residual: x is on ", x.device(), ", not on a CUDA device");
    TORCH_CHECK(x.scalar_type() == torch::kFloat32, "sigmoid_residual: x is ", x.dtype(), ", not float32");
    x = x.contiguous();
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel(), threads = 256;
    if (n == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    const float factor = static_cast<float>(scale);
    const float* in = x.data_ptr<float>();
    if (reinterpret_cast<uintptr_t>(in) % 16 == 0) {
        const int64_t blocks = ((n + 3) / 4 + threads - 1) / threads;
        sigmoid_residual_kernel4<<<blocks, threads, 0, stream>>>(in, out.data_ptr<float>(), factor, n);
    } else {
        const int64_t blocks = (n + threads - 1) / threads;
        sigmoid_residual_kernel<<<blocks, threads, 0, stream>>>(in, out.data_ptr<float>(), factor, n);
    }
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="lesson08_four",
    cpp_sources="torch::Tensor sigmoid_residual(torch::Tensor x, double scale);",
    cuda_sources=cuda_source,
    functions=["sigmoid_residual"],
)


def sigmoid_residual(x, scale):
    return extension.sigmoid_residual(x, scale)


class ModelNew(nn.Module):
    def __init__(self, input_size: int, hidden_size: int, scaling_factor: float) -> None:
        super().__init__()
        self.gemm = nn.Linear(input_size, hidden_size)
        self.scaling_factor = scaling_factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return extension.sigmoid_residual(self.gemm(x), self.scaling_factor)


def test(kernel, claim):
    """Fails if a claim is not true of kernel(x, scale), which computes sigmoid(x) * scale + x."""
    x = torch.randn(33, 7, device="cuda") * 4
    if claim == "gradients":
        assert kernel(x.requires_grad_(), 2.0).requires_grad
    elif claim == "autocast":
        with torch.autocast("cuda"):
            close(kernel(x.half(), 2.0), x.half(), 1e-3)
    elif claim == "empty":
        assert kernel(x[:0], 2.0).shape == (0, 7)
    elif claim == "layout":
        for view in (x.t(), x[:, ::2], x[1:, 1:], x.flatten()[1:].view(-1, 2)):
            close(kernel(view, 2.0), view, 1e-6)
    elif claim == "accurate":
        for size in (1e-3, 1, 10, 1e3):
            close(kernel(x * size, 2.0), x * size, 1e-6)
    elif claim == "repeatable":
        kept, first, again = x.clone(), kernel(x, 2.0), kernel(x, 2.0)
        assert torch.equal(x, kept) and torch.equal(first, again)


def close(out, x, allowed):
    best = torch.sigmoid(x.double()) * 2.0 + x.double()
    assert out.shape == x.shape and ((out - best).abs() <= allowed * (1 + best.abs())).all()
