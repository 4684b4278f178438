"""Capstone: group normalisation and SiLU, a block a group."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
constexpr int THREADS = 256, WARPS = THREADS / 32;
__global__ void norm_kernel(const float* x, const float* weight, const float* bias, float* out,
                            int64_t groups, int64_t each, int64_t places, float eps) {
    // TODO 1: the block's group is `each` channels of `places` elements: normalise, scale, silu.
}
torch::Tensor norm(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, int64_t groups, double eps) {
    const torch::Tensor in = x.contiguous(), out = torch::empty_like(in);
    if (in.numel() == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    norm_kernel<<<in.size(0) * groups, THREADS, 0, stream>>>(
        in.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(), out.data_ptr<float>(), groups,
        in.size(1) / groups, in.size(2), eps);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
declared = "torch::Tensor norm(torch::Tensor x, torch::Tensor weight, torch::Tensor bias,"
declared += "int64_t groups, double eps);"
extension = load_inline("capstone_group_norm", declared, cuda_source, functions=["norm"])


class ModelNew(torch.nn.Module):
    def __init__(self, groups, channels):
        super().__init__()
        self.norm = torch.nn.GroupNorm(groups, channels)

    def forward(self, x):
        return extension.norm(x, self.norm.weight, self.norm.bias, self.norm.num_groups, self.norm.eps)
