"""What one order of blocks, one instance of a template or one call's memory would not show."""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <cooperative_groups.h>
template <int WHICH> __device__ void meet() {
    __syncthreads();  // in a template
}
template <int WHICH> __device__ void meet_as_group() {
    cooperative_groups::this_thread_block().sync();
}
__global__ void two_instances(int* x) {
    if (threadIdx.x < 32) meet<0>();
    else meet<1>();
    x[threadIdx.x] = 1;
}
__global__ void two_groups(int* x) {
    if (threadIdx.x < 32) meet_as_group<0>();
    else meet_as_group<1>();
    x[threadIdx.x] = 1;
}
__global__ void one_instance(int* x) {
    for (int k = 0; k < 3; ++k) meet<0>();
    if (threadIdx.x % 2) meet<1>();  // all of them, from two lines
    else meet<1>();
    meet_as_group<0>();
    x[threadIdx.x] = 1;
}
__global__ void by_two_atomics(int* x) { atomicExch(x, atomicAdd(x, 0) + 1); }
__global__ void by_one(int* x) { atomicAdd(x, 1); }
__global__ void by_compare_and_swap(int* x) {
    for (int seen = atomicAdd(x, 0);;) {
        int before = atomicCAS(x, seen, seen + 1);
        if (before == seen) return;
        seen = before;
    }
}
__global__ void locked(int* x) {
    while (atomicCAS(x + 1, 0, 1)) {}
    __threadfence();
    x[0] += 1;
    __threadfence();
    atomicExch(x + 1, 0);
}
torch::Tensor run(int64_t which) {
    auto x = torch::zeros({64}, torch::dtype(torch::kInt).device(torch::kCUDA));
    int* p = x.data_ptr<int>();
    switch (which) {
        case 0: two_instances<<<1, 64>>>(p); break;
        case 1: two_groups<<<1, 64>>>(p); break;
        case 2: one_instance<<<1, 64>>>(p); break;
        case 3: by_two_atomics<<<64, 1>>>(p); break;
        case 4: by_one<<<64, 1>>>(p); break;
        case 5: by_compare_and_swap<<<64, 1>>>(p); break;
        case 6: locked<<<64, 1>>>(p); break;
    }
    return x;
}
"""
NAMES = [
    "two_instances",
    "two_groups",
    "one_instance",
    "by_two_atomics",
    "by_one",
    "by_compare_and_swap",
    "locked",
]
SIZES = [1, 3, 8, 300, 1024, 5000]


def places(runtime):
    """Where on its page memory of each size lies, in a counted call and in another one."""

    def seen():
        return [torch.empty(n, device="cuda").data_ptr() % 4096 for n in SIZES]

    runtime.count(on=True)
    try:
        counted = seen()
    finally:
        runtime.count(on=False)
    return [counted, seen()]


def cases():
    module = load_inline("alike", "torch::Tensor run(int64_t which);", CUDA, functions=["run"])
    every = {name: lambda _, n=n: module.run(n)[:2].tolist() for n, name in enumerate(NAMES)}
    return every | {"places": places}
