"""One block a row, whose threads walk along it; the rows take turns where there are more than blocks."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

__global__ void row_kernel(const float* in, float* out, int64_t rows, int64_t cols) {
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x)
        for (int64_t col = threadIdx.x; col < cols; col += blockDim.x)
            out[row * cols + col] = in[row * cols + col] * in[row * cols + col];
}

void square_into(const torch::Tensor& in, torch::Tensor& out) {
    const int64_t rows = in.size(0), blocks = rows < 65535 ? rows : 65535;
    row_kernel<<<blocks, 64, 0, at::cuda::getCurrentCUDAStream()>>>(
        in.data_ptr<float>(), out.data_ptr<float>(), rows, in.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}
"""
extension = load_inline(
    name="lesson03_row_a_block",
    cpp_sources="void square_into(const torch::Tensor& in, torch::Tensor& out);",
    cuda_sources=cuda_source,
    functions=["square_into"],
)


def square_matrix(x):
    if not (x.is_cuda and x.dtype is torch.float32 and x.dim() == 2):
        raise ValueError(f"square_matrix takes a float32 matrix on a GPU, not {x.dtype} {list(x.shape)}")
    x = x.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        extension.square_into(x, out)
    return out


def owner(row, col):
    return [col >> 4, row >> 4, col & 15, row & 15]
