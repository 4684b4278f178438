"""In the model in place, in the product's own memory; one loop in steps of the grid, with float4 or without."""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

template <typename T> __device__ T one(T, T);
template <> __device__ float one(float x, float b) {
    const float sum = x + b;
    if (sum < 0.0f) return 0.0f;
    return sum;
}
template <> __device__ float4 one(float4 x, float4 b) {
    return {one(x.x, b.x), one(x.y, b.y), one(x.z, b.z), one(x.w, b.w)};
}

template <typename T> __global__ void add_and_cut(const T* x, const T* bias, T* out, int64_t n, int64_t cols) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        out[i] = one(x[i], bias[i % cols]);
}

template <typename T> void launch(torch::Tensor x, torch::Tensor bias, torch::Tensor out) {
    const int64_t wide = sizeof(T) / sizeof(float), n = x.numel() / wide;
    if (n == 0) return;
    add_and_cut<T><<<std::min<int64_t>((n + 127) / 128, 1024), 128, 0, at::cuda::getCurrentCUDAStream()>>>(
        static_cast<const T*>(x.data_ptr()), static_cast<const T*>(bias.data_ptr()),
        static_cast<T*>(out.data_ptr()), n, x.size(-1) / wide);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

void fill(torch::Tensor x, torch::Tensor bias, torch::Tensor out) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "x: float32 on a GPU");
    TORCH_CHECK(bias.is_cuda() && bias.numel() == x.size(-1), "bias: one a column");
    uintptr_t places = x.size(-1) * sizeof(float);
    for (const torch::Tensor& t : {x, bias, out}) places |= reinterpret_cast<uintptr_t>(t.data_ptr());
    if (places % 16) launch<float>(x, bias, out);
    else launch<float4>(x, bias, out);
}

torch::Tensor bias_relu(torch::Tensor x, torch::Tensor bias) {
    torch::Tensor out = torch::empty(x.sizes(), x.options());
    fill(x.contiguous(), bias.contiguous(), out);
    return out;
}
torch::Tensor bias_relu_(torch::Tensor x, torch::Tensor bias) {
    TORCH_CHECK(x.is_contiguous() && bias.is_contiguous(), "bias_relu_: rows in order");
    fill(x, bias, x);
    return x;
}
"""
declared = """
torch::Tensor bias_relu(torch::Tensor x, torch::Tensor bias);
torch::Tensor bias_relu_(torch::Tensor x, torch::Tensor bias);
"""
extension = load_inline("lesson07_in_place", declared, cuda_source, functions=["bias_relu", "bias_relu_"])


def bias_relu(x, bias):
    return extension.bias_relu(x, bias)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features, bias_shape):
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features, bias=False)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x):
        return extension.bias_relu_(torch.matmul(x, self.gemm.weight.t()), self.bias)
