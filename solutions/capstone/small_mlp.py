"""Capstone: two small layers in one kernel, a thread a row."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
constexpr int THREADS = 128, FEATURES = 16, HIDDEN = 32;
__global__ void mlp_kernel(const float* x, const float* w1, const float* b1, const float* w2, const float* b2,
                           float* out, int64_t rows) {
    // starter: // TODO 1: both layers for one row a thread; what lies between them is never stored.
    // solution: begin
    __shared__ float first[HIDDEN * FEATURES], second[FEATURES * HIDDEN];
    for (int k = threadIdx.x; k < HIDDEN * FEATURES; k += THREADS) first[k] = w1[k], second[k] = w2[k];
    __syncthreads();
    const int64_t row = int64_t(blockIdx.x) * THREADS + threadIdx.x;
    if (row >= rows) return;
    float own[FEATURES], result[FEATURES];
    for (int k = 0; k < FEATURES; ++k) own[k] = x[row * FEATURES + k];
    for (int k = 0; k < FEATURES; ++k) result[k] = b2[k];
    for (int h = 0; h < HIDDEN; ++h) {
        float between = b1[h];
        for (int k = 0; k < FEATURES; ++k) between += own[k] * first[h * FEATURES + k];
        if (between < 0.0f) between = 0.0f;
        for (int k = 0; k < FEATURES; ++k) result[k] += between * second[k * HIDDEN + h];
    }
    for (int k = 0; k < FEATURES; ++k) out[row * FEATURES + k] = result[k];
    // solution: end
}
torch::Tensor mlp(torch::Tensor x, torch::Tensor w1, torch::Tensor b1, torch::Tensor w2, torch::Tensor b2) {
    TORCH_CHECK(x.size(1) == FEATURES && w1.size(0) == HIDDEN, "layers of other sizes");
    const torch::Tensor in = x.contiguous(), out = torch::empty_like(in);
    const int64_t rows = in.size(0);
    if (!rows) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    mlp_kernel<<<(rows + THREADS - 1) / THREADS, THREADS, 0, stream>>>(
        in.data_ptr<float>(), w1.data_ptr<float>(), b1.data_ptr<float>(), w2.data_ptr<float>(),
        b2.data_ptr<float>(), out.data_ptr<float>(), rows);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
declared = "torch::Tensor mlp(torch::Tensor x, torch::Tensor w1, torch::Tensor b1, torch::Tensor w2,"
declared += "torch::Tensor b2);"
extension = load_inline("capstone_small_mlp", declared, cuda_source, functions=["mlp"])


class ModelNew(torch.nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.first = torch.nn.Linear(features, hidden)
        self.second = torch.nn.Linear(hidden, features)

    def forward(self, x):
        return extension.mlp(x, self.first.weight, self.first.bias, self.second.weight, self.second.bias)
