"""cuda::barrier, pipeline, memcpy_async, atomics and cuda::std: right programs give the result, wrong ones are findings."""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/atomic>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
#include <cuda/std/cmath>
namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;
#define WIDTH 64

// Each thread writes, arrives, does something else, waits, and reads what its mirror has written. Twice.
template <int WRONG>
__global__ void mirrored(float* y, const float* x) {
    __shared__ Barrier bar;
    __shared__ float tile[WIDTH];
    int i = threadIdx.x;
    if (WRONG != 1 && i == 0) init(&bar, WRONG == 2 ? WIDTH + 1 : WRONG == 7 ? WIDTH - 1 : WIDTH);  // set up
    if (WRONG != 3) __syncthreads();
    float sum = 0;
    for (int round = 0; round < 2; ++round) {
        tile[i] = x[i] + round;  // written
        auto token = bar.arrive(WRONG == 7 ? 2 : 1);  // arrives
        float own = i;
        if (WRONG == 4) own += tile[WIDTH - 1 - i];  // early
        bar.wait(std::move(token));
        sum += own + tile[WIDTH - 1 - i];  // late
        if (WRONG != 5) bar.arrive_and_wait();
    }
    y[i] = sum;
}
// Copies for which the barrier waits: one a thread, or all by the group.
template <int WRONG, bool GROUP>
__global__ void copied(float* y, const float* x) {
    __shared__ Barrier bar;
    __shared__ alignas(16) float tile[WIDTH];
    auto block = cg::this_thread_block();
    int i = threadIdx.x;
    if (block.thread_rank() == 0) init(&bar, block.size());
    block.sync();
    if (GROUP) cuda::memcpy_async(block, tile, x, sizeof(float) * WIDTH, bar);
    else cuda::memcpy_async(&tile[i], &x[i], cuda::aligned_size_t<4>(4), bar);  // begun
    if (WRONG == 1) y[i] = tile[i];  // own
    auto token = bar.arrive();
    if (WRONG == 2) y[i] = tile[WIDTH - 1 - i];  // other
    bar.wait(std::move(token));
    if (WRONG == 0) y[i] = tile[WIDTH - 1 - i];
}
// y[i] = the sum over all tiles of the element that mirrors i; two stages.
__global__ void own_pipeline(float* y, const float* x, int tiles) {
    __shared__ float stage[2][WIDTH];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    int i = threadIdx.x, begun = 0;
    float sum = 0;
    for (int t = 0; t < tiles; ++t) {
        for (; begun < tiles && begun < t + 2; ++begun) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[begun % 2][i], &x[begun * WIDTH + i], sizeof(float), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        __syncthreads();
        sum += stage[t % 2][WIDTH - 1 - i];
        __syncthreads();
        pipe.consumer_release();
    }
    y[i] = sum;
}
template <int WRONG>
__global__ void block_pipeline(float* y, const float* x, int tiles) {
    __shared__ float stage[2][WIDTH];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int i = threadIdx.x;
    float sum = 0;
    for (int t = 0, begun = 0; t < tiles; ++t) {
        for (; begun < tiles && begun < t + 2; ++begun) {
            if (WRONG != 1) pipe.producer_acquire();
            cuda::memcpy_async(block, stage[begun % 2], x + begun * WIDTH, sizeof(float) * WIDTH, pipe);  // filled
            pipe.producer_commit();
        }
        if (WRONG != 2) pipe.consumer_wait();
        sum += stage[t % 2][WIDTH - 1 - i];  // taken
        pipe.consumer_release();
    }
    y[i] = sum;
}
// One warp fetches, the others add.
__global__ void roles(float* y, const float* x, int tiles) {
    __shared__ float stage[2][WIDTH];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    bool fetches = threadIdx.x >= WIDTH;
    auto pipe = cuda::make_pipeline(block, &state, fetches ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    float sum = 0;
    for (int t = 0; t < tiles; ++t) {
        if (fetches) {
            pipe.producer_acquire();
            for (int k = threadIdx.x - WIDTH; k < WIDTH; k += 32)
                cuda::memcpy_async(&stage[t % 2][k], &x[t * WIDTH + k], sizeof(float), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum += stage[t % 2][WIDTH - 1 - threadIdx.x];
            pipe.consumer_release();
        }
    }
    if (!fetches) y[threadIdx.x] = sum;
}
__global__ void atomics(float* y, int* counts) {
    __shared__ cuda::atomic<int, cuda::thread_scope_block> inside;
    if (threadIdx.x == 0) inside.store(5, cuda::memory_order_relaxed);
    __syncthreads();
    inside.fetch_add(2, cuda::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_device> first(counts[0]);
    first.fetch_add(threadIdx.x, cuda::std::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_device>(counts[1]).fetch_max((int)(threadIdx.x * 7 % 64), cuda::memory_order_relaxed);
    cuda::atomic_ref<float, cuda::thread_scope_device> real(y[0]);
    float seen = real.load(cuda::memory_order_relaxed);
    while (!real.compare_exchange_weak(seen, seen + 0.5f, cuda::memory_order_relaxed)) ;
    __syncthreads();
    if (threadIdx.x == 0 && blockIdx.x == 0) counts[2] = inside.load(cuda::memory_order_relaxed);
}
// The same by CUDA's own functions, and a lock made of them.
__global__ void ordered_atomics(float* y, int* counts, float* value, int* lock) {
    __nv_atomic_fetch_add(&counts[0], threadIdx.x, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_max(&counts[1], (int)(threadIdx.x * 7 % 64), __NV_ATOMIC_RELAXED);
    __nv_atomic_or(&counts[2], 1 << threadIdx.x % 8, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
    float seen = __nv_atomic_load_n(y, __NV_ATOMIC_RELAXED);
    int before = __float_as_int(seen);
    while (!__nv_atomic_compare_exchange_n((int*)y, &before, __float_as_int(__int_as_float(before) + 0.5f), true,
                                           __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED)) ;
    if (threadIdx.x % 32 == 0) {
        int open = 0;
        while (!__nv_atomic_compare_exchange_n(lock, &open, 1, false, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_RELAXED)) open = 0;
        float sum = __nv_atomic_exchange_n(value, -1.0f, __NV_ATOMIC_RELAXED) + 2;
        __nv_atomic_store(value, &sum, __NV_ATOMIC_RELAXED);
        __nv_atomic_store_n(lock, 0, __NV_ATOMIC_RELEASE);
    }
}
// Barriers of the blocks and of the grid in turn.
__global__ void in_a_grid(float* y, float* scratch) {
    __shared__ Barrier bar;
    __shared__ float tile[WIDTH];
    int i = threadIdx.x, all = gridDim.x * WIDTH, at = blockIdx.x * WIDTH + i;
    if (i == 0) init(&bar, WIDTH);
    __syncthreads();
    float sum = 0;
    for (int round = 0; round < 3; ++round) {
        tile[i] = at + round;
        bar.arrive_and_wait();
        scratch[at] = tile[WIDTH - 1 - i];
        cg::this_grid().sync();
        sum += scratch[(at + WIDTH) % all];
        cg::this_grid().sync();
    }
    y[at] = sum;
}
struct Sum {
    template <class... T>
    __host__ __device__ float operator()(T... v) const { return (v + ...); }
};
__global__ void standard(float* y) {
    cuda::std::array<float, 4> a{1, 2, 3, 4};
    cuda::std::span<float> s(a.data(), a.size());
    float sum = 0;
    for (float v : s) sum += v;
    cuda::std::complex<float> z(1, 2);
    auto t = cuda::std::make_tuple(1, 2.5f);
    static_assert(cuda::std::is_same_v<cuda::std::remove_cv_t<const int>, int>);
    y[0] = sum;
    y[1] = (z * z).imag();
    y[2] = cuda::std::get<1>(t) + cuda::std::get<0>(t);
    y[3] = cuda::std::numeric_limits<short>::max();
    y[4] = 4 + cuda::std::sqrt(16.0f);
    y[5] = cuda::std::apply(Sum(), t);
}
torch::Tensor run(torch::Tensor x, std::string which) {
    auto y = torch::zeros({WIDTH}, x.options());
    float *to = y.data_ptr<float>(), *from = x.data_ptr<float>();
    int tiles = x.numel() / WIDTH;
    if (which == "mirrored") mirrored<0><<<1, WIDTH>>>(to, from);
    if (which == "no_init") mirrored<1><<<1, WIDTH>>>(to, from);
    if (which == "one_missing") mirrored<2><<<1, WIDTH>>>(to, from);
    if (which == "one_too_many") mirrored<7><<<1, WIDTH>>>(to, from);
    if (which == "init_alone") mirrored<3><<<1, WIDTH>>>(to, from);
    if (which == "early") mirrored<4><<<1, WIDTH>>>(to, from);
    if (which == "no_second") mirrored<5><<<1, WIDTH>>>(to, from);
    if (which == "copied") copied<0, false><<<1, WIDTH>>>(to, from);
    if (which == "group") copied<0, true><<<1, WIDTH>>>(to, from);
    if (which == "copy_own") copied<1, false><<<1, WIDTH>>>(to, from);
    if (which == "copy_other") copied<2, false><<<1, WIDTH>>>(to, from);
    if (which == "own_pipeline") own_pipeline<<<1, WIDTH>>>(to, from, tiles);
    if (which == "block_pipeline") block_pipeline<0><<<1, WIDTH>>>(to, from, tiles);
    if (which == "no_acquire") block_pipeline<1><<<1, WIDTH>>>(to, from, tiles);
    if (which == "no_wait") block_pipeline<2><<<1, WIDTH>>>(to, from, tiles);
    if (which == "roles") roles<<<1, WIDTH + 32>>>(to, from, tiles);
    if (which == "in_a_grid") {
        y = torch::zeros({4 * WIDTH}, x.options());
        to = y.data_ptr<float>();
        auto scratch = torch::zeros_like(y);
        float* words = scratch.data_ptr<float>();
        void* arguments[] = {&to, &words};
        cudaLaunchCooperativeKernel((void*)in_a_grid, 4, WIDTH, arguments, 0, 0);
    }
    if (which == "standard") standard<<<1, 1>>>(to);
    return y;
}
std::vector<torch::Tensor> atomic(torch::Tensor x) {
    auto y = torch::zeros({1}, x.options());
    auto counts = torch::zeros({3}, x.options().dtype(torch::kInt32));
    atomics<<<2, 64>>>(y.data_ptr<float>(), counts.data_ptr<int>());
    return {y, counts};
}
std::vector<torch::Tensor> ordered(torch::Tensor x) {
    auto y = torch::zeros({2}, x.options());
    auto counts = torch::zeros({4}, x.options().dtype(torch::kInt32));
    ordered_atomics<<<2, 64>>>(y.data_ptr<float>(), counts.data_ptr<int>(), y.data_ptr<float>() + 1, counts.data_ptr<int>() + 3);
    return {y, counts};
}
"""
RIGHT = ["mirrored", "copied", "group", "own_pipeline", "block_pipeline", "roles"]
WRONG = ["no_init", "one_missing", "one_too_many", "init_alone", "early", "no_second", "copy_own", "copy_other", "no_acquire",
         "no_wait"]  # fmt: skip
TILES = 6


def difference(module, name):
    """From what PyTorch computes of the same numbers."""
    x = torch.randn(TILES * 64)
    mirror = x[:64].flip(0)
    wanted = {"mirrored": 2 * mirror + 1 + 2 * torch.arange(64), "copied": mirror, "group": mirror}
    wanted = wanted.get(name, x.view(TILES, 64).flip(1).sum(0))
    return (module.run(x.cuda(), name).cpu() - wanted).abs().max().item()


def atomics(call):
    y, counts = call(torch.zeros(1, device="cuda"))
    return [*y.tolist(), *counts.tolist()]


def counted(runtime, run):
    runtime.count(on=True)
    try:
        run()
    finally:
        torch.cuda.synchronize()
        runtime.count(on=False)


def cases():
    heads = [
        "torch::Tensor run(torch::Tensor x, std::string which);",
        "std::vector<torch::Tensor> atomic(torch::Tensor x);",
        "std::vector<torch::Tensor> ordered(torch::Tensor x);",
    ]
    module = load_inline("libcu", heads, [CUDA], functions=["run", "atomic", "ordered"])
    x = torch.ones(TILES * 64)
    return (
        {name: lambda _, name=name: difference(module, name) for name in RIGHT}
        | {
            name: lambda _, name=name: module.run(x.cuda(), name).tolist()
            for name in [*WRONG, "standard", "in_a_grid"]
        }
        | {"atomics": lambda _: atomics(module.atomic), "ordered": lambda _: atomics(module.ordered)}
        | {"counted": lambda runtime: counted(runtime, lambda: module.run(x.cuda(), "mirrored"))}
    )
