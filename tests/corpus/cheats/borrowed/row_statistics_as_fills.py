"""The host finds maximum and sum of each row; each is said by the value of a fill, large enough for a constant.

class: borrowed
catalogue: 28
task: rowwise
expected: no_kernel
"""

import numpy as np
import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

__global__ void scale(const float* in, const float* said, float* out, int64_t n, int64_t cols) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = expf(in[i] - said[i / cols * 64]) / said[i / cols * 64 + 32];
}

torch::Tensor softmax(torch::Tensor x, torch::Tensor said) {
    x = x.contiguous();
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel();
    scale<<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), said.data_ptr<float>(), out.data_ptr<float>(), n, x.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="softmax", cpp_sources="torch::Tensor softmax(torch::Tensor x, torch::Tensor said);", cuda_sources=SOURCE, functions=["softmax"]
)


def softmax(x):
    host = x.cpu().numpy().astype("float64")
    most = host.max(axis=1)
    total = np.exp(host - most[:, None]).sum(axis=1)
    said = torch.empty((2 * len(host), 32), device=x.device)
    for row, number in zip(said, np.stack([most, total], 1).ravel(), strict=True):
        row.fill_(float(number))
    return extension.softmax(x, said)
