"""Capstone: cumulative sums of rows, a block a row, piece by piece."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
constexpr int THREADS = 256, WARPS = THREADS / 32;
__global__ void cumsum_kernel(const float* x, float* out, int64_t columns) {
    // starter: // TODO 1: piece by piece: sums in a warp, of the warps before it, of the pieces before.
    // solution: begin
    __shared__ float of_warp[WARPS];  // the sum up to the end of each warp's elements
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t row = blockIdx.x * columns;
    float carried = 0.0f;
    for (int64_t first = 0; first < columns; first += THREADS) {
        const int64_t i = first + threadIdx.x;
        float mine = i < columns ? x[row + i] : 0.0f;
        for (int step = 1; step < 32; step *= 2) {
            const float before = __shfl_up_sync(~0u, mine, step);
            if (lane >= step) mine += before;
        }
        if (lane == 31) of_warp[warp] = mine;
        __syncthreads();  // every warp has written
        if (threadIdx.x == 0)
            for (int w = 1; w < WARPS; ++w) of_warp[w] += of_warp[w - 1];
        __syncthreads();  // and they are added up
        if (warp > 0) mine += of_warp[warp - 1];
        if (i < columns) out[row + i] = carried + mine;
        carried += of_warp[WARPS - 1];
        __syncthreads();  // all have read, before the next piece writes
    }
    // solution: end
}
torch::Tensor cumulative(torch::Tensor x) {
    const torch::Tensor in = x.contiguous(), out = torch::empty_like(in);
    if (in.numel() == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    cumsum_kernel<<<in.size(0), THREADS, 0, stream>>>(in.data_ptr<float>(), out.data_ptr<float>(),
                                                      in.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
declared = "torch::Tensor cumulative(torch::Tensor x);"
extension = load_inline("capstone_cumulative_sum", declared, cuda_source, functions=["cumulative"])


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return extension.cumulative(x)
