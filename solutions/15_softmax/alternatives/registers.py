"""Each thread keeps four elements in registers and so reads short rows once; the first warp joins the block's."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

constexpr int THREADS = 512, WARPS = THREADS / 32, KEPT = 4;

struct Add { __device__ float operator()(float a, float b) const { return a + b; } };
struct Max { __device__ float operator()(float a, float b) const { return fmaxf(a, b); } };

// What join makes of all threads' numbers. Each call has words of its own, so none waits for another's readers.
template <typename Join>
__device__ float joined(float mine, Join join, float* words) {
    for (int far = 16; far > 0; far /= 2) mine = join(mine, __shfl_xor_sync(~0u, mine, far));
    if (threadIdx.x % 32 == 0) words[threadIdx.x / 32] = mine;
    __syncthreads();
    mine = words[threadIdx.x % WARPS];
    for (int far = WARPS / 2; far > 0; far /= 2) mine = join(mine, __shfl_xor_sync(~0u, mine, far));
    return mine;
}

__global__ void shares(const float* in, float* out, int64_t cols) {
    __shared__ float words[2][WARPS];
    const float* x = in + blockIdx.x * cols;
    float kept[KEPT], own = -INFINITY, sum = 0.0f;
    for (int k = 0; k < KEPT; ++k) {
        const int64_t i = threadIdx.x + k * THREADS;
        kept[k] = i < cols ? x[i] : -INFINITY;
        own = fmaxf(own, kept[k]);
    }
    for (int64_t i = threadIdx.x + KEPT * THREADS; i < cols; i += THREADS) {  // what is not kept, by the online rule
        const float value = x[i];
        if (value == -INFINITY) continue;
        if (value > own) {
            sum *= expf(own - value);
            own = value;
        }
        sum += expf(value - own);
    }
    const float largest = joined(own, Max(), words[0]);
    if (sum != 0.0f) sum *= expf(own - largest);
    for (int k = 0; k < KEPT; ++k)
        if (threadIdx.x + k * THREADS < cols) sum += kept[k] = expf(kept[k] - largest);
    sum = joined(sum, Add(), words[1]);
    for (int k = 0; k < KEPT; ++k)
        if (threadIdx.x + k * THREADS < cols) out[blockIdx.x * cols + threadIdx.x + k * THREADS] = kept[k] / sum;
    for (int64_t i = threadIdx.x + KEPT * THREADS; i < cols; i += THREADS)
        out[blockIdx.x * cols + i] = expf(x[i] - largest) / sum;
}

__global__ void norm(const at::Half* in, const at::Half* weight, at::Half* out, int64_t cols, float eps) {
    __shared__ float words[WARPS];
    const at::Half* x = in + blockIdx.x * cols;
    float squares = 0.0f;
    for (int64_t i = threadIdx.x; i < cols; i += THREADS) {
        const float value = static_cast<float>(x[i]);
        squares = fmaf(value, value, squares);
    }
    const float scale = rsqrtf(joined(squares, Add(), words) / cols + eps);
    for (int64_t i = threadIdx.x; i < cols; i += THREADS)
        out[blockIdx.x * cols + i] = static_cast<at::Half>(static_cast<float>(x[i]) * scale * static_cast<float>(weight[i]));
}

__global__ void slope(const float* y, const float* grad, float* out, int64_t cols) {
    __shared__ float words[WARPS];
    float sum = 0.0f;
    for (int64_t i = threadIdx.x; i < cols; i += THREADS)
        sum += y[blockIdx.x * cols + i] * grad[blockIdx.x * cols + i];
    sum = joined(sum, Add(), words);
    for (int64_t i = threadIdx.x; i < cols; i += THREADS) {
        const int64_t at = blockIdx.x * cols + i;
        out[at] = y[at] * grad[at] - y[at] * sum;
    }
}

void softmax_into(const torch::Tensor& x, torch::Tensor& y) {
    shares<<<x.size(0), THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

void norm_into(const torch::Tensor& x, const torch::Tensor& weight, torch::Tensor& y, double eps) {
    norm<<<x.size(0), THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<at::Half>(), weight.data_ptr<at::Half>(), y.data_ptr<at::Half>(), x.size(1), eps);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

void slope_into(const torch::Tensor& y, const torch::Tensor& grad, torch::Tensor& out) {
    slope<<<y.size(0), THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
        y.data_ptr<float>(), grad.data_ptr<float>(), out.data_ptr<float>(), y.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}
"""
declared = """
void softmax_into(const torch::Tensor& x, torch::Tensor& y);
void norm_into(const torch::Tensor& x, const torch::Tensor& weight, torch::Tensor& y, double eps);
void slope_into(const torch::Tensor& y, const torch::Tensor& grad, torch::Tensor& out);
"""
functions = ["softmax_into", "norm_into", "slope_into"]
extension = load_inline("lesson15_registers", declared, cuda_source, functions=functions)


def softmax(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        extension.softmax_into(x, y)
    return y


online = softmax


def rms_norm(x, weight, eps):
    x = x.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        extension.norm_into(x, weight.contiguous(), y, eps)
    return y


class Shares(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return softmax(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        out = torch.empty_like(y)
        if y.numel():
            extension.slope_into(y, grad.contiguous(), out)
        return out


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return Shares.apply(x)
