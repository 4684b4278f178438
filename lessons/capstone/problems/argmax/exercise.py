"""Capstone: the place of each row's largest element; of equal ones, and of NaN, the first."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
constexpr int THREADS = 256, WARPS = THREADS / 32;
struct Best { float value; int place; };
__global__ void argmax_kernel(const float* x, int64_t* out, int columns) {
    // TODO 1: each thread's best, then the warp's, then the block's; of equal ones the first.
}
torch::Tensor argmax(torch::Tensor x) {
    const torch::Tensor given = x.contiguous();
    const torch::Tensor out = torch::empty({given.size(0)}, given.options().dtype(torch::kLong));
    if (given.size(0) == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    argmax_kernel<<<given.size(0), THREADS, 0, stream>>>(given.data_ptr<float>(), out.data_ptr<int64_t>(),
                                                      given.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
extension = load_inline(
    "capstone_argmax", "torch::Tensor argmax(torch::Tensor x);", cuda_source, functions=["argmax"]
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return extension.argmax(x)
