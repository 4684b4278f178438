"""The right program in which every mistake of ``mistakes/`` is made."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>

__device__ float squared(float value) {
    return value * value;
}

__global__ void scale_kernel(const float* in, float* out, float factor, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = factor * squared(in[i]);
    }
}

torch::Tensor scale(torch::Tensor x, double factor) {
    TORCH_CHECK(x.is_cuda(), "x must be on the GPU");
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel();
    const int threads = 256;
    const int blocks = (n + threads - 1) / threads;
    scale_kernel<<<blocks, threads>>>(x.data_ptr<float>(), out.data_ptr<float>(), factor, n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="explained",
    cpp_sources="torch::Tensor scale(torch::Tensor x, double factor);",
    cuda_sources=cuda_source,
    functions=["scale"],
)

x = torch.arange(10.0, device="cuda")
print(extension.scale(x, 2.0))
torch.cuda.synchronize()
