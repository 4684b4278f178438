"""In place: the product's own memory is overwritten, one flat loop, and matmul instead of a Linear."""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

__global__ void bias_relu_here(float* x, const float* bias, int64_t n, int64_t cols) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        const float sum = x[i] + bias[i % cols];
        if (sum < 0.0f) x[i] = 0.0f;
        else x[i] = sum;
    }
}

torch::Tensor bias_relu(torch::Tensor x, torch::Tensor bias) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x: float32, rows in order");
    TORCH_CHECK(bias.is_cuda() && bias.is_contiguous() && bias.numel() == x.size(-1), "bias: one a column");
    const int64_t n = x.numel();
    if (n == 0) return x;
    bias_relu_here<<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), bias.data_ptr<float>(), n, x.size(-1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return x;
}
"""
extension = load_inline(
    name="lesson07_in_place",
    cpp_sources="torch::Tensor bias_relu(torch::Tensor x, torch::Tensor bias);",
    cuda_sources=cuda_source,
    functions=["bias_relu"],
)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features, bias_shape):
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features, bias=False)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x):
        return extension.bias_relu(torch.matmul(x, self.gemm.weight.t()), self.bias)
