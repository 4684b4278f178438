"""numpy finds maximum and sum of each row, two numbers of a hundred; the kernel only scales.

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

__global__ void scale(const float* in, const float* most, const float* sum, float* out, int64_t n, int64_t cols) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = expf(in[i] - most[i / cols]) / sum[i / cols];
}

torch::Tensor softmax(torch::Tensor x, torch::Tensor most, torch::Tensor sum) {
    x = x.contiguous();
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel();
    scale<<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), most.data_ptr<float>(), sum.data_ptr<float>(), out.data_ptr<float>(), n, x.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="softmax", cpp_sources="torch::Tensor softmax(torch::Tensor x, torch::Tensor most, torch::Tensor sum);", cuda_sources=SOURCE, functions=["softmax"]
)


def softmax(x):
    host = x.cpu().numpy()
    most = host.max(axis=1)
    total = np.exp(host.astype("float64") - most[:, None]).sum(axis=1).astype("float32")
    return extension.softmax(x, torch.from_numpy(most).to(x.device), torch.from_numpy(total).to(x.device))
