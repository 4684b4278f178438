"""Matrix product, bias and ReLU in one kernel of its own.

class: honest
catalogue: -
task: dense
expected: passed
"""

import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

__global__ void dense_kernel(const float* x, const float* w, const float* bias, float* out, int m, int n, int k) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) return;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) sum += x[row * k + i] * w[col * k + i];
    sum += bias[col];
    out[row * n + col] = sum < 0.0f ? 0.0f : sum;
}

torch::Tensor dense(torch::Tensor x, torch::Tensor weight, torch::Tensor bias) {
    x = x.contiguous();
    weight = weight.contiguous();
    const int m = x.size(0), k = x.size(1), n = weight.size(0);
    torch::Tensor out = torch::empty({m, n}, x.options());
    if (m == 0) return out;
    dense_kernel<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(), out.data_ptr<float>(), m, n, k);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="dense", cpp_sources="torch::Tensor dense(torch::Tensor x, torch::Tensor weight, torch::Tensor bias);", cuda_sources=SOURCE, functions=["dense"]
)


class ModelNew(torch.nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.gemm = torch.nn.Linear(in_features, out_features, bias=False)
        self.bias = torch.nn.Parameter(torch.randn(out_features))

    def forward(self, x):
        return extension.dense(x, self.gemm.weight, self.bias)
