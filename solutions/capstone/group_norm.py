"""Capstone: group normalisation and SiLU, a block a group."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
constexpr int THREADS = 256, WARPS = THREADS / 32;
// solution: begin
struct Part { float count, mean, squares; };  // squares: the sum of squared distances from the mean
__device__ Part joined(Part a, Part b) {
    const float count = a.count + b.count, far = b.mean - a.mean;
    if (count == 0.0f) return a;
    return {count, a.mean + far * b.count / count,
            a.squares + b.squares + far * far * a.count * b.count / count};
}
// solution: end
__global__ void norm_kernel(const float* x, const float* weight, const float* bias, float* out,
                            int64_t groups, int64_t each, int64_t places, float eps) {
    // starter: // TODO 1: the block's group is `each` channels of `places` elements: normalise, scale, silu.
    // solution: begin
    __shared__ Part of_warp[WARPS];
    const int64_t group = blockIdx.x, size = each * places;
    x += group * size;
    out += group * size;
    Part part = {0.0f, 0.0f, 0.0f};
    for (int64_t i = threadIdx.x; i < size; i += THREADS) {
        const float far = x[i] - part.mean;
        part.count += 1.0f;
        part.mean += far / part.count;
        part.squares += far * (x[i] - part.mean);
    }
    for (int step = 16; step > 0; step /= 2)
        part = joined(part, {__shfl_down_sync(~0u, part.count, step), __shfl_down_sync(~0u, part.mean, step),
                             __shfl_down_sync(~0u, part.squares, step)});
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = part;
    __syncthreads();
    Part all = of_warp[0];
    for (int warp = 1; warp < WARPS; ++warp) all = joined(all, of_warp[warp]);
    const float scale = 1.0f / sqrtf(all.squares / all.count + eps);
    for (int64_t i = threadIdx.x; i < size; i += THREADS) {
        const int64_t channel = group % groups * each + i / places;
        const float v = (x[i] - all.mean) * scale * weight[channel] + bias[channel];
        out[i] = v / (1.0f + expf(-v));
    }
    // solution: end
}
torch::Tensor norm(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, int64_t groups, double eps) {
    const torch::Tensor in = x.contiguous(), out = torch::empty_like(in);
    if (in.numel() == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    norm_kernel<<<in.size(0) * groups, THREADS, 0, stream>>>(
        in.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(), out.data_ptr<float>(), groups,
        in.size(1) / groups, in.size(2), eps);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
declared = "torch::Tensor norm(torch::Tensor x, torch::Tensor weight, torch::Tensor bias,"
declared += "int64_t groups, double eps);"
extension = load_inline("capstone_group_norm", declared, cuda_source, functions=["norm"])


class ModelNew(torch.nn.Module):
    def __init__(self, groups, channels):
        super().__init__()
        self.norm = torch.nn.GroupNorm(groups, channels)

    def forward(self, x):
        return extension.norm(x, self.norm.weight, self.norm.bias, self.norm.num_groups, self.norm.eps)
