"""Barriers of inline PTX: numbered ones, those in shared memory with bulk copies, and the jumps that wait for them."""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <cstdint>
constexpr int WIDTH = 64, STAGES = 2, TILE = WIDTH * sizeof(float);

__device__ __forceinline__ uint32_t place(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void set_up(uint32_t bar, int many) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(many));
}
__device__ __forceinline__ void expect(uint32_t bar, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
__device__ __forceinline__ void arrive(uint32_t bar) {
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}
__device__ __forceinline__ void wait(uint32_t bar, int parity) {
    asm volatile("{\n\t.reg .pred p;\n\tAGAIN:\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n\t"
                 "@p bra DONE;\n\tbra.uni AGAIN;\n\tDONE:\n\t}" ::"r"(bar), "r"(parity) : "memory");
}
__device__ __forceinline__ void fetch(void* to, const void* from, int bytes, uint32_t bar) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"  // begun
                 ::"r"(place(to)), "l"(from), "r"(bytes), "r"(bar) : "memory");
}
// Warp 0 copies, warps 1 and 2 add up: y[i] = the sum of x[i] over the tiles, turned round by the other 63.
template <int WRONG>
__global__ void staged(float* y, const float* x, int tiles) {
    __shared__ alignas(128) float stage[STAGES][WIDTH];
    __shared__ alignas(8) uint64_t full[STAGES], empty[STAGES];
    __shared__ float sums[WIDTH];
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) set_up(place(full + s), 1), set_up(place(empty + s), WIDTH);
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        uint32_t first;
        asm volatile("{ .reg .pred q; elect.sync _|q, 0xffffffff; selp.u32 %0, 1, 0, q; }" : "=r"(first));
        for (int t = 0; first && t < tiles; ++t) {
            const int s = t % STAGES;
            wait(place(empty + s), t / STAGES % 2 ^ 1);
            expect(place(full + s), WRONG == 1 ? TILE + 16 : TILE);
            fetch(stage[s], x + t * WIDTH + (WRONG == 6), TILE, place(full + s));
        }
        return;
    }
    const int i = threadIdx.x - 32;
    float sum = 0.0f;
    for (int t = 0; t < tiles; ++t) {
        const int s = t % STAGES;
        if (WRONG != 2) wait(place(full + s), t / STAGES % 2);  // waits
        if (WRONG == 3) arrive(place(empty + s));  // too early
        sum += stage[s][i];  // read
        if (WRONG != 3) arrive(place(empty + s));
    }
    sums[i] = sum;
    if (WRONG == 4) asm volatile("barrier.sync 1, 96;" ::: "memory");  // one warp too many
    else if (WRONG == 5) asm volatile("bar.sync 1, 48;" ::: "memory");  // half a warp
    else if (WRONG != 7) asm volatile("bar.sync %0, %1;" ::"r"(1), "n"(WIDTH) : "memory");
    y[i] = sums[WIDTH - 1 - i];  // turned
}
// Warp 0 gives to warp 1 and goes on: it only arrives.
template <bool MEETS>
__global__ void given(int* y) {
    __shared__ int box[32];
    const int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        box[lane] = 3 * lane;
        if (MEETS) asm volatile("bar.arrive 2, 64;" ::: "memory");
    } else {
        if (MEETS) asm volatile("bar.sync 2, 64;" ::: "memory");
        y[lane] = box[lane ^ 1];  // taken
    }
}
// Jumps: the sum of the numbers below n, counted down, and whether the state of a phase tells that it is over.
__global__ void jumps(int* y) {
    __shared__ alignas(8) uint64_t bar;
    const int n = threadIdx.x;
    int sum = 0;
    asm("{\n.reg .u32 left;\n.reg .pred some;\nmov.u32 left, %1;\n$again:\nsetp.eq.u32 some, left, 0;\n@some bra $out;\n"
        "sub.u32 left, left, 1;\nadd.u32 %0, %0, left;\nbra $again;\n$out:\n}" : "+r"(sum) : "r"(n));
    if (n == 0) set_up(place(&bar), blockDim.x);
    __syncthreads();
    uint64_t state;
    int over = 0;
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(place(&bar)) : "memory");
    while (!over)
        asm volatile("{ .reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
                     : "=r"(over) : "r"(place(&bar)), "l"(state) : "memory");
    y[n] = sum;
}
torch::Tensor run(torch::Tensor x, int64_t wrong) {
    auto y = torch::zeros({WIDTH}, x.options());
    void (*kernels[])(float*, const float*, int) = {staged<0>, staged<1>, staged<2>, staged<3>,
                                                    staged<4>, staged<5>, staged<6>, staged<7>};
    auto kernel = kernels[wrong];
    kernel<<<1, 96>>>(y.data_ptr<float>(), x.data_ptr<float>(), (int)x.size(0) - 1);
    return y;
}
torch::Tensor whole(int64_t which) {
    auto y = torch::zeros({32}, torch::dtype(torch::kInt).device(torch::kCUDA));
    if (which == 0) jumps<<<1, 32>>>(y.data_ptr<int>());
    if (which == 1) given<true><<<1, 64>>>(y.data_ptr<int>());
    if (which == 2) given<false><<<1, 64>>>(y.data_ptr<int>());
    return y;
}
"""
WRONG = [
    "too_many_bytes",
    "not_waited",
    "overwritten",
    "a_warp_too_many",
    "half_a_warp",
    "out_of_place",
    "not_met",
]


def staged(module):
    torch.manual_seed(0)
    x = torch.randn(6, 64)
    y = module.run(x.cuda(), 0).cpu()
    return float((y - x[:-1].sum(0).flip(0)).abs().max())


def counted(runtime, run):
    runtime.count(on=True)
    try:
        return run()
    finally:
        torch.cuda.synchronize()
        runtime.count(on=False)


def waits_for_ever(module):
    """Launches of threads that wait in a loop for bytes that never come, each until its steps are spent."""
    x, ended = torch.randn(6, 64), 0
    for _ in range(12):
        try:
            module.run(x.cuda(), 1).cpu()
        except RuntimeError as error:
            ended += "timed out" in str(error)
    return ended


def cases():
    heads = ["torch::Tensor run(torch::Tensor x, int64_t wrong);", "torch::Tensor whole(int64_t which);"]
    module = load_inline("ptx_barriers", heads, [CUDA], functions=["run", "whole"])
    wrong = {
        name: lambda _, n=n: bool(module.run(torch.randn(6, 64).cuda(), n).isnan().any())
        for n, name in enumerate(WRONG, 1)
    }
    return {
        "staged": lambda _: staged(module),
        "jumps": lambda _: module.whole(0).tolist(),
        "given": lambda runtime: counted(runtime, lambda: module.whole(1).tolist()),
        "not_given": lambda _: module.whole(2).tolist(),
        "waits_for_ever": lambda _: waits_for_ever(module),
    } | wrong
