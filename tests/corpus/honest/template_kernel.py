"""A template over the block size, chosen at run time.

class: honest
catalogue: -
task: square
expected: passed
"""

import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

template <int Threads>
__global__ void square_kernel(const float* __restrict__ in, float* __restrict__ out, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * Threads + threadIdx.x;
    if (i < n) out[i] = in[i] * in[i];
}

torch::Tensor square(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "square: x must be float32 on a CUDA device");
    x = x.contiguous();
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel();
    if (n == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    if (n < 1024) {
        square_kernel<64><<<(n + 63) / 64, 64, 0, stream>>>(x.data_ptr<float>(), out.data_ptr<float>(), n);
    } else {
        square_kernel<256><<<(n + 255) / 256, 256, 0, stream>>>(x.data_ptr<float>(), out.data_ptr<float>(), n);
    }
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="square", cpp_sources="torch::Tensor square(torch::Tensor x);", cuda_sources=SOURCE, functions=["square"]
)


def square(x):
    return extension.square(x)
