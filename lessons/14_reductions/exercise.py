"""Lesson 14: sums of rows, the sum of all, and variances of rows, by threads that work together."""

from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

constexpr int THREADS = 256, WARPS = THREADS / 32;
__device__ float block_sum(float mine);  // below
__global__ void row_sum_kernel(const float* x, float* out, int64_t rows, int64_t cols) {
    // TODO 1: a block a row, its threads side by side; then block_sum. The launch changes, too.
    const int64_t row = int64_t(blockIdx.x) * THREADS + threadIdx.x;
    double sum = 0.0;
    for (int64_t i = 0; i < cols && row < rows; ++i) sum += x[row * cols + i];
    if (row < rows) out[row] = sum;
}
__device__ float block_sum(float mine) {  // what all threads of the block bring; thread 0 gets the sum
    // TODO 2: by a tree in shared memory.
    // TODO 3: by shuffles in each warp, then of one number a warp.
    return mine;
}
__global__ void total_kernel(const float* x, float* out, int64_t n) {  // out begins at zero
    // TODO 4: a grid-stride loop, block_sum, and one atomicAdd a block.
}
struct Part { float count, mean, squares; };  // of some numbers: how many, their mean, their M2
__device__ Part below(Part p, int step) {  // that of the thread `step` lanes on
    return {__shfl_down_sync(~0u, p.count, step), __shfl_down_sync(~0u, p.mean, step),
            __shfl_down_sync(~0u, p.squares, step)};
}
__device__ Part merged(Part a, Part b) {
    return a;  // TODO 5: of the numbers of both, by the page's rule.
}
__global__ void row_var_kernel(const float* x, float* out, int64_t cols) {
    // TODO 6: as a row's sum, with merged in place of + and below in place of the shuffle.
    if (threadIdx.x == 0) out[blockIdx.x] = -1.0f;
}
torch::Tensor reduce(torch::Tensor x, int64_t what) {
    TORCH_CHECK(x.is_cuda() && x.dim() == 2 && x.scalar_type() == torch::kFloat32, "no CUDA float32 matrix");
    x = x.contiguous();
    const int64_t rows = x.size(0), cols = x.size(1), blocks = std::min<int64_t>(x.numel() / THREADS + 1, 64);
    torch::Tensor out = what == 1 ? torch::zeros({}, x.options()) : torch::empty({rows}, x.options());
    if (out.numel() == 0) return out;
    float *in = x.data_ptr<float>(), *to = out.data_ptr<float>();
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    if (what == 0) row_sum_kernel<<<(rows + 255) / 256, THREADS, 0, stream>>>(in, to, rows, cols);
    if (what == 1) total_kernel<<<blocks, THREADS, 0, stream>>>(in, to, rows * cols);
    if (what == 2) row_var_kernel<<<rows, THREADS, 0, stream>>>(in, to, cols);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
torch::Tensor row_sum(torch::Tensor x) { return reduce(x, 0); }
torch::Tensor total(torch::Tensor x) { return reduce(x, 1); }
torch::Tensor row_var(torch::Tensor x) { return reduce(x, 2); }
"""
names = ["row_sum", "total", "row_var"]
declared = "".join(f"torch::Tensor {name}(torch::Tensor x);" for name in names)
extension = load_inline("lesson14_reductions", declared, cuda_source, functions=names)
row_sum, total, row_var = extension.row_sum, extension.total, extension.row_var
