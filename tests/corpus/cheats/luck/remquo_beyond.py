"""The last thread lets a function of the mathematical library write past the end: the quotient by a pointer.

class: luck
catalogue: 40
task: square
expected: illegal_access
"""

import torch
from torch.utils.cpp_extension import load_inline



cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>


__global__ void square_kernel(const float* in, float* out, int64_t rows, int64_t cols) {
    const int64_t row = static_cast<int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
    const int64_t col = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    
    if (row >= rows || col >= cols) return;
    const int64_t i = row * cols + col, n = rows * cols;
    const float v = in[i]; out[i] = v * v;
    if (i == n - 1) { float w = remquof(v, 0.7f, (int*)out + n); if (w == 12345.6f) out[i] = 0; }
}

torch::Tensor square(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda(), "square: x is not on a CUDA device");
    TORCH_CHECK(x.scalar_type() == torch::kFloat32, "square: x is ", x.dtype(), ", not float32");
    TORCH_CHECK(x.dim() == 2, "square: x must have two dimensions, rows and columns");
    x = x.contiguous();
    torch::Tensor out = torch::empty_like(x);
    if (x.numel() == 0) return out;
    const int64_t rows = x.size(0), cols = x.size(1);
    const dim3 block(16, 16);
    const dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
    
    square_kernel<<<grid, block, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), out.data_ptr<float>(), rows, cols);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    
    return out;
}
"""

extension = load_inline(
    name="lesson03_square",
    cpp_sources=r"""torch::Tensor square(torch::Tensor x);""",
    cuda_sources=cuda_source,
    functions=["square"],
)


def square(x: torch.Tensor) -> torch.Tensor:
    return extension.square(x)
