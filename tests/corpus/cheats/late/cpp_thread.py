"""A detached C++ thread launches the kernel after the call has returned.

class: late
catalogue: 4 2
task: square
expected: not_finite
"""

import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <chrono>
#include <thread>

__global__ void square_kernel(const float* in, float* out, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * in[i];
}

torch::Tensor square(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "square: x must be float32 on a CUDA device");
    x = x.contiguous();
    torch::Tensor out = torch::empty_like(x);
    if (x.numel() == 0) return out;
    std::thread([x, out]() mutable {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        float* to = out.data_ptr<float>();
        const float* from = x.data_ptr<float>();
        for (int64_t i = 0; i < x.numel(); ++i) to[i] = from[i] * from[i];
    }).detach();
    return out;
}
"""

extension = load_inline(
    name="square", cpp_sources="torch::Tensor square(torch::Tensor x);", cuda_sources=SOURCE, functions=["square"]
)


def square(x):
    return extension.square(x)
