"""Lesson 14's sibling: the largest of 64 by a tree, of 32 by shuffles, and negatives counted by all."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

// region: tree
__global__ void tree_max(const float* in, float* out) {  // 64 numbers, one block of 64 threads
    __shared__ float largest[64];
    const int t = threadIdx.x;
    largest[t] = in[t];
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (t < half) largest[t] = fmaxf(largest[t], largest[t + half]);
        __syncthreads();  // all threads come here, those without work too
    }
    if (t == 0) out[0] = largest[0];
}
// endregion
// region: shuffles
__global__ void warp_max(const float* in, float* out) {  // 32 numbers, one warp
    float largest = in[threadIdx.x];
    for (int step = 16; step > 0; step /= 2)
        largest = fmaxf(largest, __shfl_down_sync(0xffffffff, largest, step));
    if (threadIdx.x == 0) out[0] = largest;
}
// endregion
// region: negatives
__global__ void negatives(const float* in, int* out, int64_t n) {  // how many; out begins at 0
    int found = 0;
    int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    for (; i < n; i += int64_t(gridDim.x) * blockDim.x) found += in[i] < 0;
    atomicAdd(out, found);
}
// endregion

torch::Tensor run(torch::Tensor x, int64_t which) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(which == 2 || x.numel() == (which ? 32 : 64), "as many numbers as threads");
    torch::Tensor out = torch::zeros({}, x.options().dtype(which == 2 ? torch::kInt32 : torch::kFloat32));
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    const float* in = x.data_ptr<float>();
    if (which == 0) tree_max<<<1, 64, 0, stream>>>(in, out.data_ptr<float>());
    if (which == 1) warp_max<<<1, 32, 0, stream>>>(in, out.data_ptr<float>());
    if (which == 2) negatives<<<3, 64, 0, stream>>>(in, out.data_ptr<int>(), x.numel());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
extension = load_inline(
    name="lesson14_sibling",
    cpp_sources="torch::Tensor run(torch::Tensor x, int64_t which);",
    cuda_sources=cuda_source,
    functions=["run"],
)

for which, n in ((0, 64), (1, 32)):
    x = torch.randn(n, device="cuda") - 10
    assert torch.equal(extension.run(x, which), x.max())
x = torch.randn(1000, device="cuda")
assert extension.run(x, 2).item() == (x < 0).sum().item()
print("the largest by a tree and by shuffles, and a thousand numbers by 192 threads")
