"""Capstone: bias, GELU and residual in one pass."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
constexpr int THREADS = 256;
__global__ void gelu_kernel(const float* x, const float* bias, const float* residual, float* out,
                            int64_t elements, int64_t columns) {
    // TODO 1: gelu(x + bias) + residual; gelu(v) is v times the normal distribution up to v.
}
torch::Tensor gelu(torch::Tensor x, torch::Tensor bias, torch::Tensor residual) {
    const torch::Tensor in = x.contiguous(), other = residual.contiguous(), out = torch::empty_like(in);
    const int64_t elements = in.numel();
    if (elements == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    gelu_kernel<<<(elements + THREADS - 1) / THREADS, THREADS, 0, stream>>>(
        in.data_ptr<float>(), bias.data_ptr<float>(), other.data_ptr<float>(), out.data_ptr<float>(),
        elements, in.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
declared = "torch::Tensor gelu(torch::Tensor x, torch::Tensor bias, torch::Tensor residual);"
extension = load_inline("capstone_gelu", declared, cuda_source, functions=["gelu"])


class ModelNew(torch.nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.bias = torch.nn.Parameter(torch.randn(columns))

    def forward(self, x, residual):
        return extension.gelu(x, self.bias, residual)
