"""Capstone: layer normalisation of x + residual, a block a row, which stays in shared memory."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
constexpr int THREADS = 256, WARPS = THREADS / 32;
// solution: begin
__device__ float together(float mine) {  // the sum of what all threads of the block bring
    __shared__ float of_warp[WARPS];
    for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(~0u, mine, step);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    mine = 0.0f;
    for (int warp = 0; warp < WARPS; ++warp) mine += of_warp[warp];
    __syncthreads();  // all have read, before the next call writes
    return mine;
}
// solution: end
__global__ void norm_kernel(const float* x, const float* residual, const float* weight, const float* bias,
                            float* out, int64_t columns, float eps) {
    // starter: // TODO 1: the row's sum with the residual; mean and variance of that; then the results.
    // solution: begin
    extern __shared__ float kept[];  // the row: each thread reads what it wrote itself
    const int64_t row = blockIdx.x * columns;
    float sum = 0.0f, squares = 0.0f;
    for (int64_t i = threadIdx.x; i < columns; i += THREADS) {
        kept[i] = x[row + i] + residual[row + i];
        sum += kept[i];
    }
    const float mean = together(sum) / columns;
    for (int64_t i = threadIdx.x; i < columns; i += THREADS) {
        const float far = kept[i] - mean; squares += far * far;
    }
    const float scale = 1.0f / sqrtf(together(squares) / columns + eps);
    for (int64_t i = threadIdx.x; i < columns; i += THREADS)
        out[row + i] = (kept[i] - mean) * scale * weight[i] + bias[i];
    // solution: end
}
torch::Tensor norm(torch::Tensor x, torch::Tensor residual, torch::Tensor weight, torch::Tensor bias,
                   double eps) {
    const torch::Tensor in = x.contiguous(), other = residual.contiguous(), out = torch::empty_like(in);
    const int64_t rows = in.size(0), columns = in.size(1);
    if (rows * columns == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    norm_kernel<<<rows, THREADS, columns * sizeof(float), stream>>>(
        in.data_ptr<float>(), other.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(),
        out.data_ptr<float>(), columns, eps);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
declared = "torch::Tensor norm(torch::Tensor x, torch::Tensor residual, torch::Tensor weight,"
declared += "torch::Tensor bias, double eps);"
extension = load_inline("capstone_layer_norm", declared, cuda_source, functions=["norm"])


class ModelNew(torch.nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.norm = torch.nn.LayerNorm(columns)

    def forward(self, x, residual):
        return extension.norm(x, residual, self.norm.weight, self.norm.bias, self.norm.eps)
