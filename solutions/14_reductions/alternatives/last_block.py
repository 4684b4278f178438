"""Blocks of 128; the block that comes last adds up what all have left; variances of squares in double precision."""

from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

constexpr int WIDE = 128;

template <typename T>
__device__ T together(T mine) {  // for thread 0
    __shared__ T words[WIDE / 32];
    T found = 0;
    for (int step = 16; step; step >>= 1) mine += __shfl_down_sync(~0u, mine, step);
    if (threadIdx.x % 32 == 0) words[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int w = 0; w < WIDE / 32; ++w) found += words[w];
    return found;
}

__global__ void sums(const float* x, float* out, int cols) {
    float mine = 0.0f;
    for (int i = threadIdx.x; i < cols; i += WIDE) mine += x[int64_t(blockIdx.x) * cols + i];
    const float sum = together(mine);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void all(const float* x, float* left, int* arrived, float* out, int64_t n) {
    float mine = 0.0f;
    for (int64_t i = blockIdx.x * WIDE + threadIdx.x; i < n; i += gridDim.x * WIDE) mine += x[i];
    const float sum = together(mine);
    if (threadIdx.x != 0) return;
    left[blockIdx.x] = sum;
    __threadfence();  // the sum is there before the block says so
    if (atomicAdd(arrived, 1) != int(gridDim.x) - 1) return;
    __threadfence();
    float whole = 0.0f;
    for (int b = 0; b < gridDim.x; ++b) whole += *(volatile float*)(left + b);
    *out = whole;
}

__global__ void variances(const float* x, float* out, int cols) {
    __shared__ double kept;
    double mine = 0.0, squares = 0.0;
    for (int i = threadIdx.x; i < cols; i += WIDE) {
        const double value = x[int64_t(blockIdx.x) * cols + i];
        mine += value;
        squares += value * value;
    }
    const double sum = together(mine);
    if (threadIdx.x == 0) kept = sum / cols;
    __syncthreads();  // thread 0 has read the words of the first sum
    const double all = together(squares);
    const double variance = all / cols - kept * kept;
    if (threadIdx.x == 0) out[blockIdx.x] = variance < 0.0 ? 0.0 : variance;  // fmax would make 0 of NaN
}

torch::Tensor run(torch::Tensor x, int64_t which) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32 && x.dim() == 2, "a float32 matrix on CUDA");
    x = x.contiguous();
    const int64_t rows = x.size(0), cols = x.size(1), n = x.numel(), blocks = std::min<int64_t>(48, n / WIDE + 1);
    const auto stream = at::cuda::getCurrentCUDAStream();
    const float* in = x.data_ptr<float>();
    if (which == 1) {
        auto out = torch::empty({}, x.options()), left = torch::empty({blocks}, x.options());
        auto arrived = torch::zeros({1}, x.options().dtype(torch::kInt32));
        all<<<blocks, WIDE, 0, stream>>>(in, left.data_ptr<float>(), arrived.data_ptr<int>(), out.data_ptr<float>(), n);
        C10_CUDA_KERNEL_LAUNCH_CHECK();
        return out;
    }
    auto out = torch::empty({rows}, x.options());
    if (rows == 0) return out;
    auto kernel = which == 0 ? sums : variances;
    kernel<<<rows, WIDE, 0, stream>>>(in, out.data_ptr<float>(), int(cols));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
declared = "torch::Tensor run(torch::Tensor x, int64_t which);"
extension = load_inline("lesson14_last_block", declared, cuda_source, functions=["run"])


def row_sum(x):
    return extension.run(x, 0)


def total(x):
    return extension.run(x, 1)


def row_var(x):
    return extension.run(x, 2)
