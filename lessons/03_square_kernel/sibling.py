"""Lesson 03's sibling: lesson 02's kernel in CUDA, and a kernel whose threads say who they are."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
// region: scale
#include <torch/extension.h>          // torch::Tensor, TORCH_CHECK
#include <ATen/cuda/CUDAContext.h>    // at::cuda::getCurrentCUDAStream
#include <c10/cuda/CUDAException.h>   // C10_CUDA_KERNEL_LAUNCH_CHECK

__global__ void scale_kernel(const float* x, float* out, float factor, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factor * x[i];
}

torch::Tensor scale(torch::Tensor x, double factor) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32,
                "scale: x must be a contiguous float32 tensor on a CUDA device");
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel();
    const int64_t threads = 256, blocks = (n + threads - 1) / threads;
    scale_kernel<<<blocks, threads, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), out.data_ptr<float>(), factor, n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
// endregion
// region: names
__global__ void names_kernel() {
    printf("block %d of %d, thread %d of %d\n", blockIdx.x, gridDim.x, threadIdx.x, blockDim.x);
}

void names() {
    names_kernel<<<2, 2, 0, at::cuda::getCurrentCUDAStream()>>>();
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}
// endregion
"""

# region: build
extension = load_inline(
    name="lesson03_sibling",
    cpp_sources="torch::Tensor scale(torch::Tensor x, double factor); void names();",
    cuda_sources=cuda_source,
    functions=["scale", "names"],
)
# endregion

for n in (1, 256, 1000):
    x = torch.randn(n, device="cuda")
    assert torch.equal(extension.scale(x, -2.5), -2.5 * x)
extension.names()
torch.cuda.synchronize()
