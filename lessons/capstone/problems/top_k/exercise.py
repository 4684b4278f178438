"""Capstone: the eight largest of each row, a block a row, a sorted list a thread."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
constexpr int THREADS = 128, KEPT = 8;
__global__ void largest_kernel(const float* x, float* out, int64_t columns) {
    // TODO 1: the KEPT largest elements of the block's row, the largest first.
}
torch::Tensor largest(torch::Tensor x, int64_t kept) {
    TORCH_CHECK(kept == KEPT, "lists have ", KEPT, " elements");
    const torch::Tensor in = x.contiguous(), out = torch::empty({in.size(0), KEPT}, in.options());
    if (in.size(0) == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    largest_kernel<<<in.size(0), THREADS, 0, stream>>>(in.data_ptr<float>(), out.data_ptr<float>(),
                                                       in.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
declared = "torch::Tensor largest(torch::Tensor x, int64_t kept);"
extension = load_inline("capstone_top_k", declared, cuda_source, functions=["largest"])


class ModelNew(torch.nn.Module):
    def __init__(self, kept):
        super().__init__()
        self.kept = kept

    def forward(self, x):
        return extension.largest(x, self.kept)
