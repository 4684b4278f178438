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

// solution: begin
// region: vector
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
// endregion

// solution: end
// region: host
torch::Tensor sigmoid_residual(torch::Tensor x, double scale) {
    // starter: // TODO 3: refuse what the kernel cannot read (not CUDA, not float32); make x contiguous.
    // solution: begin
    TORCH_CHECK(x.is_cuda(), "sigmoid_residual: x is on ", x.device(), ", not on a CUDA device");
    TORCH_CHECK(x.scalar_type() == torch::kFloat32, "sigmoid_residual: x is ", x.dtype(), ", not float32");
    x = x.contiguous();
    // solution: end
    torch::Tensor out = torch::empty_like(x);
    // starter: // TODO 4: nothing to do if x is empty; else launch on the current stream, check the launch.
    // solution: begin
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
    // solution: end
    return out;
}
// endregion
"""

extension = load_inline(
    name="lesson08_sigmoid_residual",
    cpp_sources="torch::Tensor sigmoid_residual(torch::Tensor x, double scale);",
    cuda_sources=cuda_source,
    functions=["sigmoid_residual"],
)


# region: model
class ModelNew(nn.Module):
    def __init__(self, input_size: int, hidden_size: int, scaling_factor: float) -> None:
        super().__init__()
        self.gemm = nn.Linear(input_size, hidden_size)
        self.scaling_factor = scaling_factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # starter: return self.gemm(x)  # TODO 5: hand this and the scaling factor to the extension.
        # solution: begin
        return extension.sigmoid_residual(self.gemm(x), self.scaling_factor)
        # solution: end


# endregion
# region: claims
def test(kernel, claim):
    """Fails if a claim is not true of kernel(x, scale), which computes sigmoid(x) * scale + x."""
    x = torch.randn(33, 7, device="cuda") * 4
    # starter: # TODO 6: for each claim an input, and what must hold of kernel(input, 2.0).
    # starter: # gradients, autocast (x.half()), empty, layout, accurate (small and large x), repeatable
    # starter: assert kernel(x, 2.0).shape == x.shape
    # solution: begin
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
    # solution: end


# endregion
