"""Kernels that launch kernels: what is in order between them, and what is not."""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
__global__ void add(float* x, int n, float v) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += v;
}
__global__ void twice(float* x, int n) {
    if (threadIdx.x < n) x[threadIdx.x] *= 2;
}
// Two launches of one stream, and one that waits for all others although it is launched first.
__global__ void in_turn(float* x, int n) {
    if (threadIdx.x == 0) {
        x[0] = 10;
        twice<<<1, 64, 0, cudaStreamTailLaunch>>>(x, n);
        add<<<2, 32>>>(x, n, 1.f);
        add<<<2, 32>>>(x, n, 2.f);
        if (cudaGetLastError() != cudaSuccess) x[1] = -1;
    }
}
template <class T> __global__ void halves(T* x, int n, int depth) {
    if (depth == 0) {
        if (threadIdx.x < n) x[threadIdx.x] += 1;
    } else if (threadIdx.x == 0) {
        halves<T><<<1, 32>>>(x, n / 2, depth - 1);
        halves<<<1, 32>>>(x + n / 2, n - n / 2, depth - 1);
    }
}
__device__ void begin(float* x, int n) { add<<<2, 32>>>(x, n, 1.f); }
__global__ void after_a_barrier(float* x, int n) {
    x[threadIdx.x] = 5;
    __syncthreads();
    if (threadIdx.x == 0) begin(x, n);
}
// Who has a number of its own in shared memory hands it over.
__global__ void shared_by_all(float* x, int depth) {
    __shared__ int at;
    if (threadIdx.x == 0) at = atomicAdd((int*)x + 1, 1);
    __syncthreads();
    if (depth > 0 && threadIdx.x < 2) shared_by_all<<<2, 32>>>(x, depth - 1);
    if (threadIdx.x == 1 && at >= 0) atomicAdd(x, 1.f);
}
__global__ void chain(float* x, int n) {
    x[0] += 1;
    if (n > 1) chain<<<1, 1, 0, cudaStreamTailLaunch>>>(x, n - 1);
}
__global__ void without_a_barrier(float* x, int n) {
    x[threadIdx.x] = 5;  // by others
    if (threadIdx.x == 0) add<<<2, 32>>>(x, n, 1.f);
}
__global__ void written_later(float* x, int n) {
    if (threadIdx.x == 0) {
        add<<<2, 32>>>(x, n, 1.f);
        x[0] = 3;  // too late
    }
}
__global__ void read_later(float* x, float* y, int n) {
    if (threadIdx.x == 0) add<<<2, 32>>>(x, n, 1.f);
    y[threadIdx.x] = x[threadIdx.x];  // beside it
}
__global__ void of_two_blocks(float* x, int n) {
    if (threadIdx.x == 0) add<<<2, 32>>>(x, n, 1.f);
}
__global__ void of_two_streams(float* x, int n) {
    if (threadIdx.x == 0) {
        cudaStream_t other;
        cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
        add<<<2, 32>>>(x, n, 1.f);
        add<<<2, 32, 0, other>>>(x, n, 1.f);
        cudaStreamDestroy(other);
    }
}
__global__ void forgotten(float* x, int n) {
    if (threadIdx.x == 0)
        for (int k = 0; k < 2; ++k) add<<<2, 32, 0, cudaStreamFireAndForget>>>(x, n, 1.f);
}
__global__ void too_large(float* x, int n) {
    if (threadIdx.x == 0) {
        add<<<2, 2000>>>(x, n, 1.f);  // too large
        if (cudaGetLastError() == cudaErrorInvalidValue) x[0] = 7;
        if (cudaGetLastError() == cudaSuccess) x[1] = 8;
    }
}
__global__ void endless(float* x) { endless<<<1, 1>>>(x); }  // endless
#define ADD(k) k<<<2, 32>>>(x, n, 1.f)
__global__ void by_a_macro(float* x, int n) { ADD(add); }
__global__ void beyond(float* x, int n) {
    if (threadIdx.x == 0) twice<<<1, 64>>>(x + n, 1);
}
torch::Tensor run(int64_t which) {
    auto x = torch::zeros({64}, torch::dtype(torch::kFloat).device(torch::kCUDA)), y = torch::zeros_like(x);
    float* p = x.data_ptr<float>();
    int n = 64;
    switch (which) {
        case 0: in_turn<<<1, 32>>>(p, n); break;
        case 1: halves<<<1, 32>>>(p, n, 3); break;
        case 2: after_a_barrier<<<1, 64>>>(p, n); break;
        case 3: chain<<<1, 1>>>(p, 1000); break;
        case 4: without_a_barrier<<<1, 64>>>(p, n); break;
        case 5: written_later<<<1, 32>>>(p, n); break;
        case 6: read_later<<<1, 64>>>(p, y.data_ptr<float>(), n); break;
        case 7: of_two_blocks<<<2, 32>>>(p, n); break;
        case 8: of_two_streams<<<1, 32>>>(p, n); break;
        case 9: forgotten<<<1, 32>>>(p, n); break;
        case 10: too_large<<<1, 32>>>(p, n); break;
        case 11: endless<<<1, 1>>>(p); break;
        case 12: by_a_macro<<<1, 1>>>(p, n); break;
        case 14: shared_by_all<<<1, 32>>>(p, 2); break;
        case 13: beyond<<<1, 32>>>(p, n); break;
    }
    return x;
}
"""
NAMES = [
    "in_turn", "halves", "after_a_barrier", "chain", "without_a_barrier", "written_later", "read_later",
    "of_two_blocks", "of_two_streams", "forgotten", "too_large", "endless", "by_a_macro", "beyond",
    "shared_by_all",
]  # fmt: skip


def counted(runtime, run):
    runtime.count(on=True)
    try:
        return run()
    finally:
        torch.cuda.synchronize()
        runtime.count(on=False)


def cases():
    module = load_inline("children", "torch::Tensor run(int64_t which);", CUDA, functions=["run"])
    every = {name: lambda _, n=n: module.run(n).tolist() for n, name in enumerate(NAMES)}
    every["counted"] = lambda runtime: counted(runtime, lambda: module.run(2).tolist())
    return every
