"""Kernels whose memory traffic can be worked out by hand: 256 x 256 floats, 2048 warps."""

import torch
from torch.utils.cpp_extension import load_inline

from grader.protocol.messages import plain

COUNT = True
CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>
#include <cuda/atomic>
__global__ void square(const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] * x[i];
}
__global__ void square_columns(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = i % n * n + i / n;
    y[j] = x[j] * x[j];
}
__global__ void shifted(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < n) y[i] = x[i + 1];
}
__global__ void square4(const float4* x, float4* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = x[i];
    y[i] = make_float4(v.x * v.x, v.y * v.y, v.z * v.z, v.w * v.w);
}
template <int PAD> __global__ void transpose(const float* x, float* y, int n) {
    __shared__ float tile[32][32 + PAD];
    int bx = blockIdx.x * 32, by = blockIdx.y * 32;
    tile[threadIdx.y][threadIdx.x] = x[(by + threadIdx.y) * n + bx + threadIdx.x];
    __syncthreads();
    y[(bx + threadIdx.y) * n + by + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void total(const float* x, float* y) {
    atomicAdd(y, x[blockIdx.x * blockDim.x + threadIdx.x]);
}
// A load and a store for each element, of different orders.
__global__ void ordered(float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    using Ref = cuda::atomic_ref<float, cuda::thread_scope_device>;
    float v = blockIdx.x % 2 ? Ref(x[i]).load(cuda::memory_order_acquire) : Ref(x[i]).load(cuda::memory_order_relaxed);
    if (blockIdx.x % 2) Ref(y[i]).store(v, cuda::memory_order_release);
    else Ref(y[i]).store(v, cuda::memory_order_relaxed);
}
torch::Tensor run(torch::Tensor x, std::string which) {
    int n = x.size(0), m = n * n;
    auto y = torch::zeros_like(x);
    const float* a = x.data_ptr<float>();
    float* b = y.data_ptr<float>();
    dim3 grid(n / 32, n / 32), block(32, 32);
    if (which == "square") square<<<m / 256, 256>>>(a, b);
    if (which == "square_columns") square_columns<<<m / 256, 256>>>(a, b, n);
    if (which == "shifted") shifted<<<m / 256, 256>>>(a, b, m);
    if (which == "square4") square4<<<m / 1024, 256>>>((const float4*)a, (float4*)b);
    if (which == "transpose32") transpose<0><<<grid, block>>>(a, b, n);
    if (which == "transpose33") transpose<1><<<grid, block>>>(a, b, n);
    if (which == "total") total<<<m / 256, 256>>>(a, b);
    if (which == "ordered") ordered<<<m / 256, 256>>>((float*)a, b);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
"""
NAMES = [
    "square", "square_columns", "shifted", "square4", "transpose32", "transpose33", "total", "ordered",
]  # fmt: skip


def cases():
    binding = "torch::Tensor run(torch::Tensor x, std::string which);"
    module = load_inline("simt_counts", binding, CUDA, functions=["run"])
    x = torch.rand(256, 256, device="cuda")

    def case(name):
        def call(runtime):
            y = module.run(x, name)
            owner = runtime.owner(y.data_ptr() + 4 * 300, 4)
            never = (
                runtime.owner(x.data_ptr(), 4) if name != "ordered" else None
            )  # an atomic load is a change
            return {"owner": owner and plain(owner), "never": never}

        return call

    return {name: case(name) for name in NAMES}
