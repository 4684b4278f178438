"""One warp a row, where the work must be the kernel's own.

class: honest
catalogue: -
task: rowwise
expected: passed
"""

import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

__global__ void softmax_kernel(const float* in, float* out, int rows, int cols) {
    const int row = blockIdx.x;
    in += static_cast<int64_t>(row) * cols;
    out += static_cast<int64_t>(row) * cols;
    float most = -INFINITY, sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += 32) most = fmaxf(most, in[i]);
    for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
    for (int i = threadIdx.x; i < cols; i += 32) sum += expf(in[i] - most);
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    for (int i = threadIdx.x; i < cols; i += 32) out[i] = expf(in[i] - most) / sum;
}

torch::Tensor softmax(torch::Tensor x) {
    x = x.contiguous();
    torch::Tensor out = torch::empty_like(x);
    softmax_kernel<<<x.size(0), 32, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), out.data_ptr<float>(), x.size(0), x.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="softmax", cpp_sources="torch::Tensor softmax(torch::Tensor x);", cuda_sources=SOURCE, functions=["softmax"]
)


def softmax(x):
    return extension.softmax(x)
