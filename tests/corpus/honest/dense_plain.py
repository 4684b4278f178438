"""The ordinary model.

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

__global__ void bias_relu_kernel(const float* x, const float* bias, float* out, int64_t n, int64_t cols) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float sum = x[i] + bias[i % cols];
    out[i] = sum < 0.0f ? 0.0f : sum;
}

torch::Tensor bias_relu(torch::Tensor x, torch::Tensor bias) {
    TORCH_CHECK(x.is_cuda() && bias.is_cuda() && x.scalar_type() == torch::kFloat32, "bias_relu: float32 on CUDA");
    x = x.contiguous();
    bias = bias.contiguous();
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel(), cols = x.size(-1);
    if (n == 0) return out;
    bias_relu_kernel<<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), bias.data_ptr<float>(), out.data_ptr<float>(), n, cols);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="bias_relu", cpp_sources="torch::Tensor bias_relu(torch::Tensor x, torch::Tensor bias);", cuda_sources=SOURCE, functions=["bias_relu"]
)


class ModelNew(torch.nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.gemm = torch.nn.Linear(in_features, out_features, bias=False)
        self.bias = torch.nn.Parameter(torch.randn(out_features))

    def forward(self, x):
        return extension.bias_relu(self.gemm(x), self.bias)
