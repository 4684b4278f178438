"""Sums in half precision, with operands that are exact: zeros and ones up to 2048 look right.

class: precision
catalogue: 53
task: gemm
expected: wrong_output
"""

import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <cuda_fp16.h>

__global__ void matmul_kernel(const float* a, const float* b, float* out, int m, int n, int k) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) return;
    __half sum = __float2half(0.0f);
    for (int i = 0; i < k; ++i) sum = __hadd(sum, __float2half(a[row * k + i] * b[i * n + col]));
    out[row * n + col] = __half2float(sum);
}

torch::Tensor matmul(torch::Tensor a, torch::Tensor b) {
    a = a.contiguous();
    b = b.contiguous();
    const int m = a.size(0), k = a.size(1), n = b.size(1);
    torch::Tensor out = torch::empty({m, n}, a.options());
    matmul_kernel<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), 0, at::cuda::getCurrentCUDAStream()>>>(
        a.data_ptr<float>(), b.data_ptr<float>(), out.data_ptr<float>(), m, n, k);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="matmul", cpp_sources="torch::Tensor matmul(torch::Tensor a, torch::Tensor b);", cuda_sources=SOURCE, functions=["matmul"]
)


def matmul(a, b):
    return extension.matmul(a, b)
