"""Capstone: bilinear upsampling by two, a thread a result."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
constexpr int THREADS = 256;
// solution: begin
struct Between { int64_t low, high; float share; };  // two elements, and the share of the second one
__device__ Between along(int64_t place, int64_t size) {  // where a result lies along one side of x
    const float at = fmaxf(0.0f, (place + 0.5f) / 2 - 0.5f);
    const int64_t low = int64_t(at);
    return {low, min(low + 1, size - 1), at - low};
}
// solution: end
__global__ void larger_kernel(const float* x, float* out, int64_t elements, int64_t high, int64_t wide) {
    // starter: // TODO 1: a result lies at (place + 1/2) / 2 - 1/2 along each side, between four elements.
    // solution: begin
    const int64_t i = int64_t(blockIdx.x) * THREADS + threadIdx.x;
    if (i >= elements) return;
    const Between across = along(i % (2 * wide), wide), down = along(i / (2 * wide) % (2 * high), high);
    x += i / (4 * high * wide) * high * wide;
    const float *above = x + down.low * wide, *below = x + down.high * wide;
    const float top = (1.0f - across.share) * above[across.low] + across.share * above[across.high];
    const float bottom = (1.0f - across.share) * below[across.low] + across.share * below[across.high];
    out[i] = (1.0f - down.share) * top + down.share * bottom;
    // solution: end
}
torch::Tensor larger(torch::Tensor x) {
    const torch::Tensor given = x.contiguous();
    const int64_t high = given.size(2), wide = given.size(3), elements = 4 * given.numel();
    const torch::Tensor out =
        torch::empty({given.size(0), given.size(1), 2 * high, 2 * wide}, given.options());
    if (elements == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    larger_kernel<<<(elements + THREADS - 1) / THREADS, THREADS, 0, stream>>>(
        given.data_ptr<float>(), out.data_ptr<float>(), elements, high, wide);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
declared = "torch::Tensor larger(torch::Tensor x);"
extension = load_inline("capstone_upsample", declared, cuda_source, functions=["larger"])


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return extension.larger(x)
