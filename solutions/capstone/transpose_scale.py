"""Capstone: transpose and scale, by tiles in shared memory."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
constexpr int TILE = 32, HIGH = 8;  // a block of 32 x 8 threads for a tile of 32 x 32 elements
__global__ void transpose_kernel(const float* x, const float* scale, float* out, int64_t rows,
                                 int64_t columns) {
    // starter: // TODO 1: read a tile along the rows of x, scaled; write it along the rows of out.
    // solution: begin
    __shared__ float tile[TILE][TILE + 1];  // one column more: other banks
    const int64_t left = int64_t(blockIdx.x) * TILE, top = int64_t(blockIdx.y) * TILE;
    for (int k = threadIdx.y; k < TILE; k += HIGH) {
        const int64_t row = top + k, column = left + threadIdx.x;
        if (row < rows && column < columns) tile[k][threadIdx.x] = x[row * columns + column] * scale[column];
    }
    __syncthreads();
    for (int k = threadIdx.y; k < TILE; k += HIGH) {
        const int64_t out_row = left + k, out_column = top + threadIdx.x;
        if (out_row < columns && out_column < rows) out[out_row * rows + out_column] = tile[threadIdx.x][k];
    }
    // solution: end
}
torch::Tensor transposed(torch::Tensor x, torch::Tensor scale) {
    const torch::Tensor given = x.contiguous();
    const int64_t rows = given.size(0), columns = given.size(1);
    const torch::Tensor out = torch::empty({columns, rows}, given.options());
    if (rows * columns == 0) return out;
    const dim3 grid((columns + TILE - 1) / TILE, (rows + TILE - 1) / TILE), block(TILE, HIGH);
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    transpose_kernel<<<grid, block, 0, stream>>>(given.data_ptr<float>(), scale.data_ptr<float>(),
                                                 out.data_ptr<float>(), rows, columns);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
declared = "torch::Tensor transposed(torch::Tensor x, torch::Tensor scale);"
extension = load_inline("capstone_transpose", declared, cuda_source, functions=["transposed"])


class ModelNew(torch.nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return extension.transposed(x, self.scale)
