"""Capstone: layer normalisation of x + residual, a block a row, which stays in shared memory."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
constexpr int THREADS = 256, WARPS = THREADS / 32;
__global__ void norm_kernel(const float* x, const float* residual, const float* weight, const float* bias,
                            float* out, int64_t columns, float eps) {
    // TODO 1: the row's sum with the residual; mean and variance of that; then the results.
}
torch::Tensor norm(torch::Tensor x, torch::Tensor residual, torch::Tensor weight, torch::Tensor bias,
                   double eps) {
    const torch::Tensor in = x.contiguous(), other = residual.contiguous(), out = torch::empty_like(in);
    const int64_t rows = in.size(0), columns = in.size(1);
    if (rows * columns == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    norm_kernel<<<rows, THREADS, columns * sizeof(float), stream>>>(
        in.data_ptr<float>(), other.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(),
        out.data_ptr<float>(), columns, eps);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
declared = "torch::Tensor norm(torch::Tensor x, torch::Tensor residual, torch::Tensor weight,"
declared += "torch::Tensor bias, double eps);"
extension = load_inline("capstone_layer_norm", declared, cuda_source, functions=["norm"])


class ModelNew(torch.nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.norm = torch.nn.LayerNorm(columns)

    def forward(self, x, residual):
        return extension.norm(x, residual, self.norm.weight, self.norm.bias, self.norm.eps)
