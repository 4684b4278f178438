"""Capstone: a moving average, a piece of a row and its border in shared memory."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
constexpr int THREADS = 256;
__global__ void average_kernel(const float* x, float* out, int64_t columns, int64_t results, int window) {
    // starter: // TODO 1: THREADS results of row blockIdx.y, each the mean of `window` elements.
    // solution: begin
    extern __shared__ float piece[];  // THREADS + window - 1 elements
    const int64_t first = int64_t(blockIdx.x) * THREADS, i = first + threadIdx.x;
    for (int k = threadIdx.x; k < THREADS + window - 1; k += THREADS)
        if (first + k < columns) piece[k] = x[blockIdx.y * columns + first + k];
    __syncthreads();
    if (i >= results) return;
    float sum = 0.0f;
    for (int k = 0; k < window; ++k) sum += piece[threadIdx.x + k];
    out[blockIdx.y * results + i] = sum / window;
    // solution: end
}
torch::Tensor average(torch::Tensor x, int64_t window) {
    const torch::Tensor given = x.contiguous();
    const int64_t rows = given.size(0), columns = given.size(1), results = columns - window + 1;
    const torch::Tensor out = torch::empty({rows, results}, given.options());
    if (out.numel() == 0) return out;
    const dim3 grid((results + THREADS - 1) / THREADS, rows);
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    average_kernel<<<grid, THREADS, (THREADS + window - 1) * sizeof(float), stream>>>(
        given.data_ptr<float>(), out.data_ptr<float>(), columns, results, window);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
declared = "torch::Tensor average(torch::Tensor x, int64_t window);"
extension = load_inline("capstone_moving_average", declared, cuda_source, functions=["average"])


class ModelNew(torch.nn.Module):
    def __init__(self, window):
        super().__init__()
        self.window = window

    def forward(self, x):
        return extension.average(x, self.window)
