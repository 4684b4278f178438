"""Accesses of inline PTX with an order and a scope beside atomic ones, and volatile ones of C++."""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
template <int WHICH>
__global__ void beside(int* c, int* out) {
    int v = 0, w = 0;
    atomicAdd(c, 1);
    if (WHICH == 0) asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(c) : "memory");
    if (WHICH == 1) asm volatile("ld.acquire.sys.global.s32 %0, [%1];" : "=r"(v) : "l"(c) : "memory");
    if (WHICH == 2) asm volatile("ld.volatile.global.s32 %0, [%1];" : "=r"(v) : "l"(c) : "memory");
    if (WHICH == 3) asm volatile("ld.relaxed.cta.global.s32 %0, [%1];" : "=r"(v) : "l"(c) : "memory");
    if (WHICH == 4) asm volatile("ld.global.s32 %0, [%1];" : "=r"(v) : "l"(c) : "memory");  // weak
    if (WHICH == 5) v = *(volatile int*)c;  // volatile
    if (WHICH == 6) asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(c), "r"(7) : "memory");
    if (WHICH == 7) asm volatile("st.release.sys.s32 [%0], %1;" ::"l"(c), "r"(7) : "memory");
    if (WHICH == 8) asm volatile("st.volatile.s32 [%0], %1;" ::"l"(c), "r"(7) : "memory");
    if (WHICH == 9) asm volatile("st.relaxed.cta.s32 [%0], %1;" ::"l"(c), "r"(7) : "memory");
    if (WHICH == 10) asm volatile("st.global.s32 [%0], %1;" ::"l"(c), "r"(7) : "memory");  // weak
    if (WHICH == 11) *(volatile int*)c = 7;  // volatile
    if (WHICH == 12) asm volatile("ld.relaxed.gpu.v2.s32 {%0, %1}, [%2];" : "=r"(v), "=r"(w) : "l"(c));
    if (WHICH == 13) asm volatile("st.relaxed.gpu.v2.s32 [%0], {%1, %2};" ::"l"(c), "r"(7), "r"(v));
    if (v + w < 0) *out = 1;
}
// Block 0 gives a value, by a flag or a count; whoever sees that takes it.
template <int WHICH>
__global__ void given(int* c, int* data) {
    int seen = 0;
    if (blockIdx.x == 0) {
        *data = 5;
        if (WHICH == 0) asm volatile("st.release.gpu.s32 [%0], 1;" ::"l"(c) : "memory");
        if (WHICH == 1) asm volatile("red.release.gpu.global.add.s32 [%0], 1;" ::"l"(c) : "memory");
        if (WHICH == 2) asm volatile("st.relaxed.gpu.s32 [%0], 1;" ::"l"(c) : "memory");
    } else {
        if (WHICH == 0) asm volatile("ld.acquire.gpu.s32 %0, [%1];" : "=r"(seen) : "l"(c) : "memory");
        if (WHICH == 1) asm volatile("atom.acquire.gpu.global.or.b32 %0, [%1], 0;" : "=r"(seen) : "l"(c) : "memory");
        if (WHICH == 2) asm volatile("ld.relaxed.gpu.s32 %0, [%1];" : "=r"(seen) : "l"(c) : "memory");
        if (seen) c[blockIdx.x] = *data;
    }
}
template <int N>
void run_beside(int which, int blocks, int* c) {
    if (which == N) beside<N><<<blocks, 32>>>(c, c + 8);
    else if constexpr (N) run_beside<N - 1>(which, blocks, c);
}
torch::Tensor run(torch::Tensor c, int64_t which, int64_t blocks) {
    int* p = c.data_ptr<int>();
    if (which == 100) given<0><<<2, 1>>>(p, p + 8);
    else if (which == 101) given<1><<<2, 1>>>(p, p + 8);
    else if (which == 102) given<2><<<2, 1>>>(p, p + 8);
    else run_beside<13>(which, blocks, p);
    return c;
}
"""
CASES = {
    "load_relaxed": (0, 4), "load_acquire": (1, 4), "load_volatile": (2, 4), "load_in_block": (3, 4),
    "load_in_one_block": (3, 1), "load_weak": (4, 4), "cpp_volatile_load": (5, 4), "store_relaxed": (6, 4),
    "store_release": (7, 4), "store_volatile": (8, 4), "store_in_block": (9, 4), "store_in_one_block": (9, 1),
    "store_weak": (10, 4), "cpp_volatile_store": (11, 4), "load_vector": (12, 4), "store_vector": (13, 4),
    "given_by_a_flag": (100, 2), "given_by_a_count": (101, 2), "given_without_order": (102, 2),
}  # fmt: skip


def cases():
    head = "torch::Tensor run(torch::Tensor c, int64_t which, int64_t blocks);"
    module = load_inline("strong_order", [head], [CUDA], functions=["run"])

    def of(which, blocks):
        return module.run(torch.zeros(16, dtype=torch.int32, device="cuda"), which, blocks).tolist()

    return {name: lambda _, case=case: of(*case) for name, case in CASES.items()}
