"""Lesson 15: softmax of rows in three passes and in two, its derivative, and RMSNorm: a block a row."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
constexpr int THREADS = 256, WARPS = THREADS / 32;
// region: together
__device__ float together(float mine, bool add) {  // the sum of what all threads bring, or the largest
    // starter: return mine;  // TODO 1: by shuffles, then one number a warp; every thread gets the result.
    // solution: begin
    __shared__ float of_warp[WARPS];
    for (int step = 16; step > 0; step /= 2) {
        const float other = __shfl_down_sync(~0u, mine, step);
        mine = add ? mine + other : fmaxf(mine, other);
    }
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    mine = of_warp[0];
    for (int warp = 1; warp < WARPS; ++warp) mine = add ? mine + of_warp[warp] : fmaxf(mine, of_warp[warp]);
    __syncthreads();  // all have read, before the next call writes
    return mine;
    // solution: end
}
// endregion
// region: softmax
__global__ void softmax_kernel(const float* x, float* out, int64_t cols) {
    // starter: // TODO 2: three passes over the block's row: the largest element, the sum, the results.
    // solution: begin
    const float* row = x + blockIdx.x * cols;
    float largest = -INFINITY, sum = 0.0f;
    for (int64_t i = threadIdx.x; i < cols; i += THREADS) largest = fmaxf(largest, row[i]);
    largest = together(largest, false);
    for (int64_t i = threadIdx.x; i < cols; i += THREADS) sum += expf(row[i] - largest);
    sum = together(sum, true);
    for (int64_t i = threadIdx.x; i < cols; i += THREADS)
        out[blockIdx.x * cols + i] = expf(row[i] - largest) / sum;
    // solution: end
}
// endregion
struct Part { float largest, sum; };  // of some elements: the largest, and the sum of exp(element - largest)
// region: online
__device__ Part merged(Part a, Part b) {
    // starter: return a;  // TODO 3: of the elements of both, by the page's rule; -inf needs thought.
    // solution: begin
    const float largest = fmaxf(a.largest, b.largest);
    const float of_a = a.sum == 0.0f ? 0.0f : a.sum * expf(a.largest - largest);
    const float of_b = b.sum == 0.0f ? 0.0f : b.sum * expf(b.largest - largest);
    return {largest, of_a + of_b};
    // solution: end
}
__global__ void online_kernel(const float* x, float* out, int64_t cols) {
    // starter: // TODO 4: two passes: one for both numbers, by merged; one for the results.
    // solution: begin
    __shared__ Part of_warp[WARPS];
    const float* row = x + blockIdx.x * cols;
    Part part = {-INFINITY, 0.0f};
    for (int64_t i = threadIdx.x; i < cols; i += THREADS)
        part = merged(part, {row[i], row[i] == -INFINITY ? 0.0f : 1.0f});
    for (int step = 16; step > 0; step /= 2)
        part = merged(part, {__shfl_down_sync(~0u, part.largest, step),
                             __shfl_down_sync(~0u, part.sum, step)});
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = part;
    __syncthreads();
    part = of_warp[0];
    for (int warp = 1; warp < WARPS; ++warp) part = merged(part, of_warp[warp]);
    for (int64_t i = threadIdx.x; i < cols; i += THREADS)
        out[blockIdx.x * cols + i] = expf(row[i] - part.largest) / part.sum;
    // solution: end
}
// endregion
// region: norm
__global__ void norm_kernel(const c10::Half* x, const c10::Half* w, c10::Half* out, int64_t cols, float eps) {
    // starter: // TODO 5: the row's scale from its mean square, in float; then the results, rounded once.
    // solution: begin
    const c10::Half* row = x + blockIdx.x * cols;
    float squares = 0.0f;
    for (int64_t i = threadIdx.x; i < cols; i += THREADS) {
        const float value = row[i];
        squares += value * value;
    }
    const float scale = 1.0f / sqrtf(together(squares, true) / cols + eps);
    for (int64_t i = threadIdx.x; i < cols; i += THREADS)
        out[blockIdx.x * cols + i] = float(row[i]) * scale * float(w[i]);
    // solution: end
}
// endregion
// region: back
__global__ void back_kernel(const float* y, const float* grad, float* out, int64_t cols) {
    // starter: // TODO 6: the gradient of x, from the results y and the gradient that comes in.
    // solution: begin
    const int64_t row = blockIdx.x * cols;
    float sum = 0.0f;
    for (int64_t i = threadIdx.x; i < cols; i += THREADS) sum += y[row + i] * grad[row + i];
    sum = together(sum, true);
    for (int64_t i = threadIdx.x; i < cols; i += THREADS) out[row + i] = y[row + i] * (grad[row + i] - sum);
    // solution: end
}
// endregion
torch::Tensor run(int64_t what, torch::Tensor x, torch::Tensor with, double eps) {
    TORCH_CHECK(x.is_cuda() && x.dim() == 2 && with.is_cuda() && with.size(-1) == x.size(1), "shapes");
    const torch::Tensor in = x.contiguous(), second = with.contiguous(), out = torch::empty_like(in);
    const int64_t rows = x.size(0), cols = x.size(1);
    if (rows * cols == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    auto f = [](const torch::Tensor& t) { return t.data_ptr<float>(); };  // which raises for another dtype
    auto h = [](const torch::Tensor& t) { return t.data_ptr<c10::Half>(); };
    if (what == 0) softmax_kernel<<<rows, THREADS, 0, stream>>>(f(in), f(out), cols);
    if (what == 1) online_kernel<<<rows, THREADS, 0, stream>>>(f(in), f(out), cols);
    if (what == 2) norm_kernel<<<rows, THREADS, 0, stream>>>(h(in), h(second), h(out), cols, eps);
    if (what == 3) back_kernel<<<rows, THREADS, 0, stream>>>(f(in), f(second), f(out), cols);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
torch::Tensor softmax(torch::Tensor x) { return run(0, x, x, 0.0); }
torch::Tensor online(torch::Tensor x) { return run(1, x, x, 0.0); }
torch::Tensor rms_norm(torch::Tensor x, torch::Tensor weight, double eps) { return run(2, x, weight, eps); }
torch::Tensor softmax_back(torch::Tensor y, torch::Tensor grad) { return run(3, y, grad, 0.0); }
"""
declared = "torch::Tensor softmax(torch::Tensor x); torch::Tensor online(torch::Tensor x);"
declared += "torch::Tensor rms_norm(torch::Tensor x, torch::Tensor weight, double eps);"
declared += "torch::Tensor softmax_back(torch::Tensor y, torch::Tensor grad);"
names = ["softmax", "online", "rms_norm", "softmax_back"]
extension = load_inline("lesson15_softmax", declared, cuda_source, functions=names)
softmax, online, rms_norm = extension.softmax, extension.online, extension.rms_norm


# region: function
# solution: begin
class Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = online(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return extension.softmax_back(y, grad)


# solution: end
class ModelNew(torch.nn.Module):
    def forward(self, x):
        # starter: return online(x)  # TODO 7: by an autograd.Function of yours, with forward and backward.
        # solution: begin
        return Softmax.apply(x)
        # solution: end


# endregion
