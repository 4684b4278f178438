"""Lesson 12: relu(x @ weight.T + bias) + residual as one kernel, in four stages."""

from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

constexpr int SIDE = 16;  // a block has 16 x 16 threads

__global__ void gemm_kernel(const float* x, const float* weight, const float* bias, const float* residual,
                            float* out, int64_t rows, int64_t cols, int64_t inner) {
    const int64_t row = int64_t(blockIdx.y) * SIDE + threadIdx.y;
    const int64_t col = int64_t(blockIdx.x) * SIDE + threadIdx.x;
    float sum = 0.0f;
    // TODO 1: for an output that exists, add up x[row, k] * weight[col, k].
    // TODO 2: in steps of 16 along k, copy a tile of x and one of weight to shared memory.
    // TODO 3: 4 x 4 outputs a thread, 16 rows and columns apart; tiles of 64 rows, no conflicts.
    if (row < rows && col < cols) out[row * cols + col] = sum;
    // TODO 4: where there is a bias, the output is relu(sum + bias of the column) + residual.
}

torch::Tensor gemm(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, torch::Tensor residual) {
    for (auto* t : {&x, &weight, &bias, &residual}) {
        TORCH_CHECK(t->is_cuda() && t->scalar_type() == torch::kFloat32, "gemm: not all float32 on CUDA");
        *t = t->contiguous();
    }
    TORCH_CHECK(x.dim() == 2 && weight.dim() == 2 && x.size(1) == weight.size(1), "gemm: x and weight");
    const int64_t rows = x.size(0), cols = weight.size(0), inner = x.size(1);
    if (bias.numel() || residual.numel())  // without them: the plain product, and null pointers
        TORCH_CHECK(bias.numel() == cols && residual.numel() == rows * cols, "gemm: bias or residual");
    torch::Tensor out = torch::empty({rows, cols}, x.options());
    if (out.numel() == 0) return out;
    const dim3 block(SIDE, SIDE), grid((cols + SIDE - 1) / SIDE, (rows + SIDE - 1) / SIDE);
    gemm_kernel<<<grid, block, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(), residual.data_ptr<float>(),
        out.data_ptr<float>(), rows, cols, inner);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="lesson12_gemm",
    cpp_sources="torch::Tensor gemm(torch::Tensor, torch::Tensor, torch::Tensor, torch::Tensor);",
    cuda_sources=cuda_source,
    functions=["gemm"],
)


def product(x, weight):
    nothing = x.new_empty(0)
    return extension.gemm(x, weight, nothing, nothing)


def gemm_epilogue(x, weight, bias, residual):
    return extension.gemm(x, weight, bias, residual)
