"""Asynchronous copies: right pipelines give the result, and each kind of wrong one is a finding."""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <cuda_pipeline.h>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
#define WIDTH 64

// y[i] = the sum over all tiles of the tile's element that mirrors i. Two stages: one arrives while one is read.
template <int WRONG>
__global__ void pipelined(float* y, const float* x, int tiles) {
    __shared__ float stage[2][WIDTH];
    int i = threadIdx.x;
    float sum = 0;
    __pipeline_memcpy_async(&stage[0][i], &x[i], 4);
    __pipeline_commit();
    for (int t = 0; t < tiles; ++t) {
        if (t + 1 < tiles) {
            __pipeline_memcpy_async(&stage[(t + 1) % 2][i], &x[(t + 1) * WIDTH + i], 4);  // begun
            if (WRONG != 1) __pipeline_commit();
        }
        if (WRONG == 2) __pipeline_wait_prior(t + 1 < tiles ? 2 : 1);
        else __pipeline_wait_prior(t + 1 < tiles ? 1 : 0);
        if (WRONG != 3) __syncthreads();
        sum += stage[t % 2][WIDTH - 1 - i];  // read
        if (WRONG != 4) __syncthreads();
    }
    y[i] = sum;
}
template <int WIDTH_IN_BYTES> __global__ void by_ptx(float4* y, const float4* __restrict__ x, int n) {
    extern __shared__ float4 tile[];
    int i = threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(tile + i);
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], %2, %3;\n" ::"r"(to), "l"(&x[i]), "n"(WIDTH_IN_BYTES),
                 "r"(i < n ? 16 : 0));
    asm volatile("cp.async.commit_group;\n" ::);
    asm volatile("cp.async.wait_group %0;\n" ::"n"(0));
    __syncthreads();
    y[i] = tile[(i + 1) % 32];
}
__global__ void by_group(float* y, const float* x, int n) {
    __shared__ float tile[100];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, tile, x, n * sizeof(float));
    cg::wait(block);
    if (threadIdx.x < n) y[threadIdx.x] = tile[n - 1 - threadIdx.x];
}
__global__ void beyond(float* y, const float* x) {
    __shared__ float tile[32];
    __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x + 1], 4);  // beyond
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[threadIdx.x] = tile[threadIdx.x];
}
__global__ void written(float* y, const float* x) {
    __shared__ float tile[32];
    __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], 4);
    tile[threadIdx.x] = 0;  // written
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[threadIdx.x] = tile[threadIdx.x];
}
torch::Tensor run(torch::Tensor x, std::string which) {
    auto y = torch::zeros({WIDTH}, x.options());
    float *to = y.data_ptr<float>(), *from = x.data_ptr<float>();
    int tiles = x.numel() / WIDTH;
    if (which == "right") pipelined<0><<<1, WIDTH>>>(to, from, tiles);
    if (which == "not_committed") pipelined<1><<<1, WIDTH>>>(to, from, tiles);
    if (which == "not_waited") pipelined<2><<<1, WIDTH>>>(to, from, tiles);
    if (which == "no_barrier_before") pipelined<3><<<1, WIDTH>>>(to, from, tiles);
    if (which == "no_barrier_after") pipelined<4><<<1, WIDTH>>>(to, from, tiles);
    if (which == "group") by_group<<<1, WIDTH>>>(to, from, 50);
    if (which == "beyond") beyond<<<1, 32>>>(to, from + x.numel() - 32);
    if (which == "written") written<<<1, 32>>>(to, from);
    return y;
}
torch::Tensor ptx(torch::Tensor x, int64_t n) {
    auto y = torch::zeros_like(x);
    by_ptx<16><<<1, 32, 32 * 16>>>((float4*)y.data_ptr<float>(), (float4*)x.data_ptr<float>(), n);
    return y;
}
"""
WRONG = ["not_committed", "not_waited", "no_barrier_before", "no_barrier_after", "beyond", "written"]


def right(module):
    x = torch.randn(6 * 64, device="cuda")
    return (module.run(x, "right") - x.view(6, 64).flip(1).sum(0)).abs().max().item()


def ptx(module):
    x = torch.randn(32, 4, device="cuda")
    wanted = x.clone()
    wanted[20:] = 0
    return torch.equal(module.ptx(x, 20), wanted.roll(-1, 0))


def group(module):
    x = torch.randn(64, device="cuda")
    return torch.equal(module.run(x, "group")[:50], x[:50].flip(0))


def cases():
    heads = [
        "torch::Tensor run(torch::Tensor x, std::string which);",
        "torch::Tensor ptx(torch::Tensor x, int64_t n);",
    ]
    module = load_inline("async_copies", heads, [CUDA], functions=["run", "ptx"])
    wrong = {
        name: lambda _, name=name: module.run(torch.randn(6 * 64, device="cuda"), name).isnan().any().item()
        for name in WRONG
    }
    return {
        "right": lambda _: right(module),
        "ptx": lambda _: ptx(module),
        "group": lambda _: group(module),
    } | wrong
