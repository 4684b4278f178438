"""A warp a row, without shared memory or barriers; the derivative by a registered operator."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <cfloat>
#include <cuda_fp16.h>
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

constexpr unsigned ALL = 0xffffffff;

__device__ float sum_of_warp(float mine) {
    for (int far = 1; far < 32; far *= 2) mine += __shfl_xor_sync(ALL, mine, far);
    return mine;
}

__device__ float largest_of_warp(float mine) {
    for (int far = 1; far < 32; far *= 2) mine = fmaxf(mine, __shfl_xor_sync(ALL, mine, far));
    return mine;
}

__global__ void three(const float* x, float* y, int64_t rows, int64_t cols) {
    const int64_t row = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32, begin = row * cols;
    if (row >= rows) return;  // a whole warp
    float largest = -INFINITY, sum = 0.0f;
    for (int64_t i = threadIdx.x % 32; i < cols; i += 32) largest = fmaxf(largest, x[begin + i]);
    largest = largest_of_warp(largest);
    for (int64_t i = threadIdx.x % 32; i < cols; i += 32) sum += expf(x[begin + i] - largest);
    sum = sum_of_warp(sum);
    for (int64_t i = threadIdx.x % 32; i < cols; i += 32) y[begin + i] = expf(x[begin + i] - largest) / sum;
}

__global__ void two(const float* x, float* y, int64_t rows, int64_t cols) {
    const int64_t row = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32, begin = row * cols;
    if (row >= rows) return;
    float mine = -FLT_MAX, sum = 0.0f;  // a finite beginning: its difference from -inf is no NaN
    for (int64_t i = threadIdx.x % 32; i < cols; i += 32) {
        const float value = x[begin + i], before = mine;
        mine = fmaxf(mine, value);
        sum = sum * expf(before - mine) + expf(value - mine);
    }
    const float largest = largest_of_warp(mine);  // first the largest of all, then one change of scale
    sum = sum_of_warp(sum * expf(mine - largest));
    for (int64_t i = threadIdx.x % 32; i < cols; i += 32) y[begin + i] = expf(x[begin + i] - largest) / sum;
}

__global__ void normed(const __half* x, const __half* weight, __half* y, int64_t rows, int64_t cols, float eps) {
    const int64_t row = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32, begin = row * cols;
    if (row >= rows) return;
    double squares = 0.0;
    for (int64_t i = threadIdx.x % 32; i < cols; i += 32) {
        const double value = __half2float(x[begin + i]);
        squares += value * value;
    }
    for (int far = 1; far < 32; far *= 2) squares += __shfl_xor_sync(ALL, squares, far);
    const float scale = rsqrt(squares / cols + eps);
    for (int64_t i = threadIdx.x % 32; i < cols; i += 32)
        y[begin + i] = __float2half(__half2float(x[begin + i]) * scale * __half2float(weight[i]));
}

__global__ void derived(const float* y, const float* grad, float* out, int64_t rows, int64_t cols) {
    const int64_t row = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32, begin = row * cols;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int64_t i = threadIdx.x % 32; i < cols; i += 32) sum = fmaf(y[begin + i], grad[begin + i], sum);
    sum = sum_of_warp(sum);
    for (int64_t i = threadIdx.x % 32; i < cols; i += 32) out[begin + i] = y[begin + i] * (grad[begin + i] - sum);
}

torch::Tensor shares(torch::Tensor x, bool online) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32 && x.dim() == 2, "a float32 matrix on CUDA");
    x = x.contiguous();
    auto y = torch::empty_like(x);
    auto kernel = online ? two : three;
    if (x.size(0)) kernel<<<(x.size(0) + 3) / 4, 128, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), y.data_ptr<float>(), x.size(0), x.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

torch::Tensor norm(torch::Tensor x, torch::Tensor weight, double eps) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kHalf && x.dim() == 2, "a float16 matrix on CUDA");
    TORCH_CHECK(weight.scalar_type() == torch::kHalf && weight.numel() == x.size(1), "a weight for each column");
    x = x.contiguous();
    weight = weight.contiguous();
    auto y = torch::empty_like(x);
    auto half = [](torch::Tensor& t) { return reinterpret_cast<__half*>(t.data_ptr()); };
    if (x.size(0)) normed<<<(x.size(0) + 3) / 4, 128, 0, at::cuda::getCurrentCUDAStream()>>>(
        half(x), half(weight), half(y), x.size(0), x.size(1), eps);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

torch::Tensor back(torch::Tensor y, torch::Tensor grad) {
    grad = grad.contiguous();
    auto out = torch::empty_like(y);
    if (y.size(0)) derived<<<(y.size(0) + 3) / 4, 128, 0, at::cuda::getCurrentCUDAStream()>>>(
        y.data_ptr<float>(), grad.data_ptr<float>(), out.data_ptr<float>(), y.size(0), y.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
declared = """
torch::Tensor shares(torch::Tensor x, bool online);
torch::Tensor norm(torch::Tensor x, torch::Tensor weight, double eps);
torch::Tensor back(torch::Tensor y, torch::Tensor grad);
"""
extension = load_inline("lesson15_warp_a_row", declared, cuda_source, functions=["shares", "norm", "back"])
rms_norm = extension.norm


def softmax(x: torch.Tensor) -> torch.Tensor:
    return extension.shares(x, False)


@torch.library.custom_op("lesson15::online", mutates_args=())
def online(x: torch.Tensor) -> torch.Tensor:
    return extension.shares(x, True)


def keep(ctx, inputs, output):
    ctx.save_for_backward(output)


def differentiate(ctx, grad):
    return extension.back(*ctx.saved_tensors, grad)


online.register_fake(torch.empty_like)
online.register_autograd(differentiate, setup_context=keep)
online.register_autocast("cuda", torch.float32)


class ModelNew(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return online(x)
