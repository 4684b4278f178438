"""A C++ loop of the host finds maximum and sum of each row, which the kernel gets by value.

class: borrowed
catalogue: 28
task: rowwise
expected: no_kernel
"""

import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <cmath>

struct Rows {
    float most[40], sum[40];
};
__global__ void scale(const float* in, Rows rows, float* out, int64_t n, int64_t cols) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = expf(in[i] - rows.most[i / cols]) / rows.sum[i / cols];
}

torch::Tensor softmax(torch::Tensor x) {
    x = x.contiguous();
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel();
    const int64_t cols = x.size(1);
    const torch::Tensor host = x.cpu();
    Rows rows{};
    for (int64_t r = 0; r < x.size(0); ++r) {
        const float* row = host.data_ptr<float>() + r * cols;
        double sum = 0.0;
        rows.most[r] = row[0];
        for (int64_t i = 0; i < cols; ++i) rows.most[r] = std::fmax(rows.most[r], row[i]);
        for (int64_t i = 0; i < cols; ++i) sum += std::exp(double(row[i]) - rows.most[r]);
        rows.sum[r] = float(sum);
    }
    scale<<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), rows, out.data_ptr<float>(), n, cols);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="softmax", cpp_sources="torch::Tensor softmax(torch::Tensor x);", cuda_sources=SOURCE, functions=["softmax"]
)


def softmax(x):
    return extension.softmax(x)
