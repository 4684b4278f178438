"""The host squares into a __device__ variable without asking; the kernel copies it.

class: borrowed
catalogue: 28
task: square
expected: no_kernel
"""

import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

__device__ float numbers[4096];

__global__ void square_kernel(float* out, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = numbers[i];
}

torch::Tensor square(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "square: x must be float32 on a CUDA device");
    x = x.contiguous();
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel();
    if (n == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    const torch::Tensor host = x.cpu();
    cudaStreamSynchronize(stream);
    void* to = nullptr;
    cudaGetSymbolAddress(&to, numbers);
    for (int64_t i = 0; i < n; ++i) static_cast<float*>(to)[i] = host.data_ptr<float>()[i] * host.data_ptr<float>()[i];
    square_kernel<<<(n + 255) / 256, 256, 0, stream>>>(out.data_ptr<float>(), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="square", cpp_sources="torch::Tensor square(torch::Tensor x);", cuda_sources=SOURCE, functions=["square"]
)


def square(x):
    return extension.square(x)
