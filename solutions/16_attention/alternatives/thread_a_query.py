"""A thread a query: it keeps its totals to itself, and no thread waits for a score of another."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

constexpr int ROWS = 64, TILE = 8, WIDEST = 128;

template <typename scalar_t>
__global__ void attend(const scalar_t* __restrict__ query, const scalar_t* __restrict__ key,
                       const scalar_t* __restrict__ value, scalar_t* __restrict__ result, int queries, int keys,
                       int width, int64_t past) {
    __shared__ float own[ROWS][WIDEST + 1], near[TILE][WIDEST], far[TILE][WIDEST];
    const int t = threadIdx.x, begin = blockIdx.x * ROWS, rows = min(ROWS, queries - begin);
    const int64_t of_queries = (int64_t(blockIdx.y) * queries + begin) * width;
    const int64_t of_keys = int64_t(blockIdx.y) * keys * width;
    for (int i = t; i < rows * width; i += ROWS)
        own[i / width][i % width] = static_cast<float>(query[of_queries + i]) / sqrtf(width);
    float sums[WIDEST], weight = 0.0f, top = -INFINITY;
    for (int c = 0; c < width; ++c) sums[c] = 0.0f;
    const int64_t reach = begin + t + past;  // the last key that this thread's query sees
    const int64_t last = min(int64_t(keys), begin + rows + past);
    for (int64_t start = 0; start < last; start += TILE) {
        const int here = min(int64_t(TILE), last - start);
        __syncthreads();
        for (int i = t; i < here * width; i += ROWS) {
            near[i / width][i % width] = key[of_keys + start * width + i];
            far[i / width][i % width] = value[of_keys + start * width + i];
        }
        __syncthreads();
        for (int j = 0; j < here && t < rows && start + j <= reach; ++j) {
            float score = 0.0f;
            for (int c = 0; c < width; ++c) score = fmaf(own[t][c], near[j][c], score);
            if (score > top) {  // a larger one: what was added so far is worth less
                const float less = expf(top - score);
                weight *= less;
                for (int c = 0; c < width; ++c) sums[c] *= less;
                top = score;
            }
            const float part = expf(score - top);
            weight += part;
            for (int c = 0; c < width; ++c) sums[c] = fmaf(part, far[j][c], sums[c]);
        }
    }
    __syncthreads();
    if (t < rows)
        for (int c = 0; c < width; ++c) own[t][c] = weight == 0.0f ? 0.0f : sums[c] / weight;
    __syncthreads();
    for (int i = t; i < rows * width; i += ROWS) result[of_queries + i] = own[i / width][i % width];
}

void attend_into(torch::Tensor q, torch::Tensor k, torch::Tensor v, torch::Tensor out, int64_t past) {
    const int queries = q.size(-2), keys = k.size(-2), width = q.size(-1);
    TORCH_CHECK(width <= WIDEST, "a head of ", width, " features is too wide");
    const dim3 grid((queries + ROWS - 1) / ROWS, q.numel() / (int64_t(queries) * width));
    const auto stream = at::cuda::getCurrentCUDAStream();
    if (q.scalar_type() == at::kHalf)
        attend<at::Half><<<grid, ROWS, 0, stream>>>(q.data_ptr<at::Half>(), k.data_ptr<at::Half>(),
            v.data_ptr<at::Half>(), out.data_ptr<at::Half>(), queries, keys, width, past);
    else
        attend<float><<<grid, ROWS, 0, stream>>>(q.data_ptr<float>(), k.data_ptr<float>(),
            v.data_ptr<float>(), out.data_ptr<float>(), queries, keys, width, past);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}
"""
extension = load_inline(
    name="lesson16_thread_a_query",
    cpp_sources="void attend_into(torch::Tensor, torch::Tensor, torch::Tensor, torch::Tensor, int64_t past);",
    cuda_sources=cuda_source,
    functions=["attend_into"],
)


def causal(q, k, v, past):
    q, k, v = (t.contiguous() for t in (q, k, v))
    out = torch.empty_like(q)
    extension.attend_into(q, k, v, out, past)
    return out


def tiled(q, k, v):
    return causal(q, k, v, k.size(-2))


by_rows = tiled


class ModelNew(torch.nn.Module):
    def forward(self, q, k, v):
        return causal(q, k, v, 0)
