"""Capstone: the eight largest of each row, a block a row, a sorted list a thread."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
constexpr int THREADS = 128, KEPT = 8;
// solution: begin
__device__ void insert(float (&own)[KEPT], float v) {  // into a list, the largest first; the smallest goes
    for (int j = 0; j < KEPT; ++j) {
        const float smaller = fminf(own[j], v);
        own[j] = fmaxf(own[j], v);
        v = smaller;
    }
}
// solution: end
__global__ void largest_kernel(const float* x, float* out, int64_t columns) {
    // starter: // TODO 1: the KEPT largest elements of the block's row, the largest first.
    // solution: begin
    __shared__ float lists[THREADS][KEPT + 1];  // one more: other banks
    float own[KEPT];
    for (int j = 0; j < KEPT; ++j) own[j] = -INFINITY;
    for (int64_t i = threadIdx.x; i < columns; i += THREADS) {
        const float v = x[blockIdx.x * columns + i];
        if (v > own[KEPT - 1]) insert(own, v);
    }
    for (int j = 0; j < KEPT; ++j) lists[threadIdx.x][j] = own[j];
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            for (int j = 0; j < KEPT; ++j) insert(own, lists[threadIdx.x + half][j]);
            for (int j = 0; j < KEPT; ++j) lists[threadIdx.x][j] = own[j];
        }
        __syncthreads();  // of this step
    }
    if (threadIdx.x < KEPT) out[blockIdx.x * KEPT + threadIdx.x] = lists[0][threadIdx.x];
    // solution: end
}
torch::Tensor largest(torch::Tensor x, int64_t kept) {
    TORCH_CHECK(kept == KEPT, "lists have ", KEPT, " elements");
    const torch::Tensor in = x.contiguous(), out = torch::empty({in.size(0), KEPT}, in.options());
    if (in.size(0) == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    largest_kernel<<<in.size(0), THREADS, 0, stream>>>(in.data_ptr<float>(), out.data_ptr<float>(),
                                                       in.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
declared = "torch::Tensor largest(torch::Tensor x, int64_t kept);"
extension = load_inline("capstone_top_k", declared, cuda_source, functions=["largest"])


class ModelNew(torch.nn.Module):
    def __init__(self, kept):
        super().__init__()
        self.kept = kept

    def forward(self, x):
        return extension.largest(x, self.kept)
