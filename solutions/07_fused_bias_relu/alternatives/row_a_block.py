"""Columns by x and rows by y, so that no remainder is needed; four neighbours where they are aligned."""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

__device__ float cut(float sum) { return sum > 0.0f || sum != sum ? sum : 0.0f; }

__global__ void row_bias_relu(const float* x, const float* bias, float* out, int64_t rows, int64_t cols, bool wide) {
    const int64_t col = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * (wide ? 4 : 1);
    if (col >= cols) return;
    for (int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
        const float *from = x + row * cols + col, *add = bias + col;
        float* to = out + row * cols + col;
        if (!wide) {
            *to = cut(*from + *add);
            continue;
        }
        const float4 v = *reinterpret_cast<const float4*>(from), b = *reinterpret_cast<const float4*>(add);
        *reinterpret_cast<float4*>(to) = make_float4(cut(v.x + b.x), cut(v.y + b.y), cut(v.z + b.z), cut(v.w + b.w));
    }
}

bool apart(const torch::Tensor& t) { return (reinterpret_cast<uintptr_t>(t.data_ptr()) & 15) != 0; }

torch::Tensor bias_relu(torch::Tensor x, torch::Tensor bias) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "x must be float32 on a GPU");
    TORCH_CHECK(bias.is_cuda() && bias.scalar_type() == torch::kFloat32, "bias must be float32 on a GPU");
    TORCH_CHECK(x.dim() > 0 && bias.numel() == x.size(-1), "one bias a column");
    x = x.contiguous();
    bias = bias.contiguous();
    torch::Tensor out = torch::empty_like(x);
    if (out.numel() == 0) return out;
    const int64_t cols = x.size(-1), rows = x.numel() / cols;
    const bool wide = cols % 4 == 0 && !apart(x) && !apart(bias);
    const int64_t pieces = wide ? cols / 4 : cols;
    const dim3 grid((pieces + 127) / 128, rows < 4096 ? rows : 4096);
    row_bias_relu<<<grid, 128, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), bias.data_ptr<float>(), out.data_ptr<float>(), rows, cols, wide);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
extension = load_inline(
    name="lesson07_row_a_block",
    cpp_sources="torch::Tensor bias_relu(torch::Tensor x, torch::Tensor bias);",
    cuda_sources=cuda_source,
    functions=["bias_relu"],
)
bias_relu = extension.bias_relu


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features, bias_shape):
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features, bias=False)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x):
        return bias_relu(self.gemm(x), self.bias)
