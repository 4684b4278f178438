"""Lesson 03: every element of a matrix squared, by one CUDA thread each."""

import torch
from torch.utils.cpp_extension import load_inline


def owner(row, col):
    """[block x, block y, thread x, thread y]: which thread of which 16 x 16 block has this element?"""
    # TODO 1: x runs along the columns, y down the rows. Which block? Which thread in it?
    return [0, 0, row, col]


cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

__global__ void square_kernel(const float* in, float* out, int64_t rows, int64_t cols) {
    // TODO 2: which row (y), which column (x) is this thread's? blockIdx, blockDim, threadIdx.
    // TODO 3: the last blocks reach over the edge: a thread without an element must do nothing.
    // TODO 4: write the square. Rows lie one after another, cols elements each.
}

torch::Tensor square_matrix(torch::Tensor x) {
    // TODO 5: refuse what the kernel cannot read: not CUDA, not float32, not 2-D (TORCH_CHECK).
    // TODO 6: the kernel reads row after row. Make it so for views too.
    torch::Tensor out = torch::empty_like(x);
    // TODO 7: with no elements there is nothing to launch: return out here.
    const int64_t rows = x.size(0), cols = x.size(1);
    const dim3 block(16, 16);
    const dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
    // TODO 8: launch on the current stream (<<<grid, block, 0, stream>>>), then check the launch.
    square_kernel<<<grid, block>>>(x.data_ptr<float>(), out.data_ptr<float>(), rows, cols);
    return out;
}
"""

extension = load_inline(
    name="lesson03_square",
    cpp_sources="torch::Tensor square_matrix(torch::Tensor x);",
    cuda_sources=cuda_source,
    functions=["square_matrix"],
)


def square_matrix(x: torch.Tensor) -> torch.Tensor:
    return extension.square_matrix(x)


if __name__ == "__main__":
    print(square_matrix(torch.arange(6.0, device="cuda").reshape(2, 3)))
