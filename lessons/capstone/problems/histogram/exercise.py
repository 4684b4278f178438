"""Capstone: a histogram, counted in each block's shared memory first."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
constexpr int THREADS = 256;
constexpr int64_t BLOCKS = 1024;  // at most; a grid-stride loop does the rest
__global__ void count_kernel(const int* values, unsigned long long* counts, int64_t count, int bins) {
    // TODO 1: count into bins of the block, which lie in shared memory; then add these to counts.
}
torch::Tensor histogram(torch::Tensor values, int64_t bins) {
    const torch::Tensor in = values.contiguous();
    const torch::Tensor out = torch::zeros({bins}, in.options().dtype(torch::kLong));
    const int64_t count = in.numel();
    if (count == 0) return out;
    const int64_t blocks = std::min(BLOCKS, (count + THREADS - 1) / THREADS);
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    count_kernel<<<blocks, THREADS, bins * sizeof(unsigned), stream>>>(
        in.data_ptr<int>(), reinterpret_cast<unsigned long long*>(out.data_ptr<int64_t>()), count, bins);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
declared = "torch::Tensor histogram(torch::Tensor values, int64_t bins);"
extension = load_inline("capstone_histogram", declared, cuda_source, functions=["histogram"])


class ModelNew(torch.nn.Module):
    def __init__(self, bins):
        super().__init__()
        self.bins = bins

    def forward(self, values):
        return extension.histogram(values, self.bins)
