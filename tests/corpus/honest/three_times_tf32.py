"""Three TF32 products for each float32 one, as on tensor cores.

class: honest
catalogue: -
task: gemm
expected: passed
"""

import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

__device__ float tf32(float x) {
    return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u);
}

__global__ void matmul_kernel(const float* a, const float* b, float* out, int m, int n, int k) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) return;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
        const float x = a[row * k + i], y = b[i * n + col], xh = tf32(x), yh = tf32(y), xl = tf32(x - xh), yl = tf32(y - yh);
        sum += xl * yh;
        sum += xh * yl;
        sum += xh * yh;
    }
    out[row * n + col] = sum;
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
