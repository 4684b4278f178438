"""Capstone: a gated activation in one pass."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
constexpr int THREADS = 256;
__global__ void gated_kernel(const float* x, float* out, int64_t elements, int64_t columns) {
    // starter: // TODO 1: a row of x is two of out: silu of an element of the first half, times its partner.
    // solution: begin
    const int64_t i = int64_t(blockIdx.x) * THREADS + threadIdx.x;
    if (i >= elements) return;
    const int64_t row = i / columns, column = i % columns;
    const float gate = x[2 * row * columns + column], value = x[(2 * row + 1) * columns + column];
    out[i] = gate / (1.0f + expf(-gate)) * value;
    // solution: end
}
torch::Tensor gated(torch::Tensor x) {
    const torch::Tensor given = x.contiguous();
    const int64_t columns = given.size(1) / 2, elements = given.size(0) * columns;
    const torch::Tensor out = torch::empty({given.size(0), columns}, given.options());
    if (elements == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    gated_kernel<<<(elements + THREADS - 1) / THREADS, THREADS, 0, stream>>>(
        given.data_ptr<float>(), out.data_ptr<float>(), elements, columns);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
extension = load_inline(
    "capstone_swiglu", "torch::Tensor gated(torch::Tensor x);", cuda_source, functions=["gated"]
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return extension.gated(x)
