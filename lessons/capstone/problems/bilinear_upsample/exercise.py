"""Capstone: bilinear upsampling by two, a thread a result."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
constexpr int THREADS = 256;
__global__ void larger_kernel(const float* x, float* out, int64_t elements, int64_t high, int64_t wide) {
    // TODO 1: a result lies at (place + 1/2) / 2 - 1/2 along each side, between four elements.
}
torch::Tensor larger(torch::Tensor x) {
    const torch::Tensor given = x.contiguous();
    const int64_t high = given.size(2), wide = given.size(3), elements = 4 * given.numel();
    const torch::Tensor out =
        torch::empty({given.size(0), given.size(1), 2 * high, 2 * wide}, given.options());
    if (elements == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    larger_kernel<<<(elements + THREADS - 1) / THREADS, THREADS, 0, stream>>>(
        given.data_ptr<float>(), out.data_ptr<float>(), elements, high, wide);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
declared = "torch::Tensor larger(torch::Tensor x);"
extension = load_inline("capstone_upsample", declared, cuda_source, functions=["larger"])


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return extension.larger(x)
