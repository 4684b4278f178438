"""The size is copied from pinned memory, and the host waits before it writes there again.

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

__global__ void square_kernel(const float* in, float* out, const int64_t* size) {
    const int64_t n = *size;
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * in[i];
}

torch::Tensor square(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "square: x must be float32 on a CUDA device");
    x = x.contiguous();
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel();
    if (n == 0) return out;
    static int64_t *kept = nullptr, *size = nullptr;
    if (!kept) {
        C10_CUDA_CHECK(cudaMallocHost(&kept, 8));
        C10_CUDA_CHECK(cudaMalloc(&size, 8));
    }
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    *kept = n;
    C10_CUDA_CHECK(cudaMemcpyAsync(size, kept, 8, cudaMemcpyHostToDevice, stream));
    C10_CUDA_CHECK(cudaStreamSynchronize(stream));
    square_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x.data_ptr<float>(), out.data_ptr<float>(), size);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="square", cpp_sources="torch::Tensor square(torch::Tensor x);", cuda_sources=SOURCE, functions=["square"]
)


def square(x):
    return extension.square(x)
