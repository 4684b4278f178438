"""Capstone: softmax with hidden keys, a block a row of scores."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
constexpr int THREADS = 256, WARPS = THREADS / 32;
__global__ void softmax_kernel(const float* scores, const bool* hidden, float* out, int64_t queries,
                               int64_t keys) {
    // TODO 1: the softmax of the block's row; a hidden key has a share of 0.
}
torch::Tensor softmax(torch::Tensor scores, torch::Tensor hidden) {
    const torch::Tensor in = scores.contiguous(), mask = hidden.contiguous(), out = torch::empty_like(in);
    const int64_t queries = in.size(1), keys = in.size(2);
    if (in.numel() == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    softmax_kernel<<<in.size(0) * queries, THREADS, keys * sizeof(float), stream>>>(
        in.data_ptr<float>(), mask.data_ptr<bool>(), out.data_ptr<float>(), queries, keys);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
declared = "torch::Tensor softmax(torch::Tensor scores, torch::Tensor hidden);"
extension = load_inline("capstone_masked_softmax", declared, cuda_source, functions=["softmax"])


class ModelNew(torch.nn.Module):
    def forward(self, scores, hidden):
        return extension.softmax(scores, hidden)
