"""Capstone: cumulative sums of rows, a block a row, piece by piece."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
constexpr int THREADS = 256, WARPS = THREADS / 32;
__global__ void cumsum_kernel(const float* x, float* out, int64_t columns) {
    // TODO 1: piece by piece: sums in a warp, of the warps before it, of the pieces before.
}
torch::Tensor cumulative(torch::Tensor x) {
    const torch::Tensor in = x.contiguous(), out = torch::empty_like(in);
    if (in.numel() == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    cumsum_kernel<<<in.size(0), THREADS, 0, stream>>>(in.data_ptr<float>(), out.data_ptr<float>(),
                                                      in.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
declared = "torch::Tensor cumulative(torch::Tensor x);"
extension = load_inline("capstone_cumulative_sum", declared, cuda_source, functions=["cumulative"])


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return extension.cumulative(x)
