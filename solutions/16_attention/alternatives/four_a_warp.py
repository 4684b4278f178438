"""Four warps share a row's keys and join what they found; with tiles a warp has four queries in registers."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

constexpr int WARPS = 4, OWN = 4, BLOCK = WARPS * OWN, LANES = 32, PIECES = 4, WIDE = LANES * PIECES;

__device__ float added(float x) {
    for (int step = 1; step < LANES; step *= 2) x += __shfl_xor_sync(0xffffffff, x, step);
    return x;
}
__device__ float larger(float x) {
    for (int step = 1; step < LANES; step *= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, step));
    return x;
}
// The factor that brings a sum measured from `old` to one measured from `top`.
__device__ float factor(float old, float top) { return old == -INFINITY ? 0.0f : expf(old - top); }

__global__ void split_row(const float* q, const float* k, const float* v, float* out, int keys, int width) {
    __shared__ float tops[WARPS], weights[WARPS], parts[WARPS][WIDE];
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    float sums[PIECES] = {0.0f, 0.0f, 0.0f, 0.0f}, weight = 0.0f, top = -INFINITY;
    for (int j = warp; j < keys; j += WARPS) {
        float dot = 0.0f;
        for (int c = lane; c < width; c += LANES) dot += q[int64_t(blockIdx.x) * width + c] * k[int64_t(j) * width + c];
        dot = added(dot) / sqrtf(width);
        const float now = fmaxf(top, dot), less = factor(top, now), e = expf(dot - now);
        top = now, weight = weight * less + e;
        for (int p = 0; p < PIECES; ++p) {
            const int c = lane + p * LANES;
            if (c < width) sums[p] = sums[p] * less + e * v[int64_t(j) * width + c];
        }
    }
    if (lane == 0) tops[warp] = top, weights[warp] = weight;
    for (int p = 0; p < PIECES; ++p) parts[warp][lane + p * LANES] = sums[p];
    __syncthreads();
    float highest = -INFINITY, all = 0.0f;
    for (int w = 0; w < WARPS; ++w) highest = fmaxf(highest, tops[w]);
    for (int w = 0; w < WARPS; ++w) all += weights[w] * factor(tops[w], highest);
    for (int c = threadIdx.x; c < width; c += WARPS * LANES) {
        float sum = 0.0f;
        for (int w = 0; w < WARPS; ++w) sum += parts[w][c] * factor(tops[w], highest);
        out[int64_t(blockIdx.x) * width + c] = sum / all;
    }
}

template <typename T>
__global__ void four_rows(const T* q, const T* k, const T* v, T* out, int queries, int keys, int width, int64_t past) {
    __shared__ float rows[BLOCK][WIDE], tile[LANES][WIDE + 1];  // one tile: of keys first, then of values
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    const int64_t first = int64_t(blockIdx.x) * BLOCK, head = blockIdx.y;
    const T* const keys_here = k + head * keys * width;
    const T* const values_here = v + head * keys * width;
    for (int r = warp; r < BLOCK; r += WARPS)
        for (int c = lane; c < width; c += LANES)
            rows[r][c] = first + r < queries ? float(q[(head * queries + first + r) * width + c]) : 0.0f;
    float sums[OWN][PIECES] = {}, weight[OWN] = {}, top[OWN];
    for (int o = 0; o < OWN; ++o) top[o] = -INFINITY;
    for (int64_t start = 0; start < keys && start <= first + BLOCK - 1 + past; start += LANES) {
        __syncthreads();
        for (int r = warp; r < LANES && start + r < keys; r += WARPS)
            for (int c = lane; c < width; c += LANES) tile[r][c] = keys_here[(start + r) * width + c];
        __syncthreads();
        float score[OWN] = {};
        if (start + lane < keys)
            for (int c = 0; c < width; ++c)
                for (int o = 0; o < OWN; ++o) score[o] += rows[warp * OWN + o][c] * tile[lane][c];
        __syncthreads();
        for (int r = warp; r < LANES && start + r < keys; r += WARPS)
            for (int c = lane; c < width; c += LANES) tile[r][c] = values_here[(start + r) * width + c];
        __syncthreads();
        for (int o = 0; o < OWN; ++o) {
            const int64_t row = first + warp * OWN + o;
            const bool hidden = start + lane >= keys || start + lane > row + past;
            const float mine = hidden ? -INFINITY : score[o] / sqrtf(width);
            const float now = fmaxf(top[o], larger(mine)), less = factor(top[o], now);
            const float e = hidden ? 0.0f : expf(mine - now);
            top[o] = now, weight[o] = weight[o] * less + added(e);
            for (int p = 0; p < PIECES; ++p) sums[o][p] *= less;
            for (int j = 0; j < LANES && start + j < keys; ++j) {
                const float share = __shfl_sync(0xffffffff, e, j);
                for (int p = 0; p < PIECES; ++p)
                    if (lane + p * LANES < width) sums[o][p] += share * tile[j][lane + p * LANES];
            }
        }
    }
    for (int o = 0; o < OWN; ++o) {
        const int64_t row = first + warp * OWN + o;
        if (row >= queries) break;
        for (int p = 0; p < PIECES; ++p)
            if (lane + p * LANES < width)
                out[(head * queries + row) * width + lane + p * LANES] = weight[o] == 0.0f ? 0.0f : sums[o][p] / weight[o];
    }
}

torch::Tensor by_rows(torch::Tensor q, torch::Tensor k, torch::Tensor v) {
    q = q.contiguous(), k = k.contiguous(), v = v.contiguous();
    auto out = torch::empty_like(q);
    split_row<<<q.size(0), WARPS * LANES, 0, at::cuda::getCurrentCUDAStream()>>>(
        q.data_ptr<float>(), k.data_ptr<float>(), v.data_ptr<float>(), out.data_ptr<float>(), k.size(0), q.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}

template <typename T>
torch::Tensor with_tiles(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v, int64_t past) {
    auto out = torch::empty_like(q);
    const int64_t queries = q.size(-2), width = q.size(-1);
    const dim3 grid((queries + BLOCK - 1) / BLOCK, q.numel() / (queries * width));
    four_rows<T><<<grid, WARPS * LANES, 0, at::cuda::getCurrentCUDAStream()>>>(
        q.data_ptr<T>(), k.data_ptr<T>(), v.data_ptr<T>(), out.data_ptr<T>(), queries, k.size(-2), width, past);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
torch::Tensor causal(torch::Tensor q, torch::Tensor k, torch::Tensor v, int64_t past) {
    q = q.contiguous(), k = k.contiguous(), v = v.contiguous();
    return q.scalar_type() == torch::kHalf ? with_tiles<c10::Half>(q, k, v, past) : with_tiles<float>(q, k, v, past);
}
"""
declared = "torch::Tensor by_rows(torch::Tensor, torch::Tensor, torch::Tensor);"
declared += "torch::Tensor causal(torch::Tensor, torch::Tensor, torch::Tensor, int64_t past);"
module = load_inline("lesson16_four_a_warp", declared, cuda_source, functions=["by_rows", "causal"])
by_rows, causal = module.by_rows, module.causal


def tiled(q, k, v):
    return causal(q, k, v, k.size(0))


class ModelNew(torch.nn.Module):
    def forward(self, q, k, v):
        return causal(q, k, v, 0)
