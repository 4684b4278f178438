"""Lesson 03: every element of a matrix squared, by one CUDA thread each."""

import torch
from torch.utils.cpp_extension import load_inline


# region: owner
def owner(row, col):
    """[block x, block y, thread x, thread y]: which thread of which 16 x 16 block has this element?"""
    # starter: # TODO 1: x runs along the columns, y down the rows. Which block? Which thread in it?
    # starter: return [0, 0, row, col]
    # solution: begin
    return [col // 16, row // 16, col % 16, row % 16]
    # solution: end


# endregion

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

// region: kernel
__global__ void square_kernel(const float* in, float* out, int64_t rows, int64_t cols) {
    // starter: // TODO 2: which row (y), which column (x) is this thread's? blockIdx, blockDim, threadIdx.
    // starter: // TODO 3: the last blocks reach over the edge: a thread without an element must do nothing.
    // starter: // TODO 4: write the square. Rows lie one after another, cols elements each.
    // solution: begin
    const int64_t row = static_cast<int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
    const int64_t col = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= rows || col >= cols) return;
    const int64_t i = row * cols + col;
    out[i] = in[i] * in[i];
    // solution: end
}
// endregion

// region: host
torch::Tensor square_matrix(torch::Tensor x) {
    // starter: // TODO 5: refuse what the kernel cannot read: not CUDA, not float32, not 2-D (TORCH_CHECK).
    // starter: // TODO 6: the kernel reads row after row. Make it so for views too.
    // solution: begin
    TORCH_CHECK(x.is_cuda(), "square_matrix: x is on ", x.device(), ", not on a CUDA device");
    TORCH_CHECK(x.scalar_type() == torch::kFloat32, "square_matrix: x is ", x.dtype(), ", not float32");
    TORCH_CHECK(x.dim() == 2, "square_matrix: x must have two dimensions, rows and columns");
    x = x.contiguous();
    // solution: end
    torch::Tensor out = torch::empty_like(x);
    // starter: // TODO 7: with no elements there is nothing to launch: return out here.
    // solution: begin
    if (x.numel() == 0) return out;
    // solution: end
    const int64_t rows = x.size(0), cols = x.size(1);
    const dim3 block(16, 16);
    const dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
    // starter: // TODO 8: launch on the current stream (<<<grid, block, 0, stream>>>), then check the launch.
    // starter: square_kernel<<<grid, block>>>(x.data_ptr<float>(), out.data_ptr<float>(), rows, cols);
    // solution: begin
    square_kernel<<<grid, block, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), out.data_ptr<float>(), rows, cols);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    // solution: end
    return out;
}
// endregion
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
