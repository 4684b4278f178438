"""Capstone: segmented sums; a block adds 64 rows up, with an atomic where a segment ends."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
constexpr int THREADS = 128, ROWS = 64;
__global__ void sum_kernel(const float* x, const int64_t* segment, float* out, int64_t rows,
                           int64_t features) {
    // TODO 1: add ROWS rows of x up, each into its segment; as few atomics as the order allows.
}
torch::Tensor sums(torch::Tensor x, torch::Tensor segment, int64_t segments) {
    const torch::Tensor in = x.contiguous(), of = segment.contiguous();
    const torch::Tensor out = torch::zeros({segments, in.size(1)}, in.options());
    if (in.numel() == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    sum_kernel<<<(in.size(0) + ROWS - 1) / ROWS, THREADS, 0, stream>>>(
        in.data_ptr<float>(), of.data_ptr<int64_t>(), out.data_ptr<float>(), in.size(0), in.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
declared = "torch::Tensor sums(torch::Tensor x, torch::Tensor segment, int64_t segments);"
extension = load_inline("capstone_segmented_sum", declared, cuda_source, functions=["sums"])


class ModelNew(torch.nn.Module):
    def __init__(self, segments):
        super().__init__()
        self.segments = segments

    def forward(self, x, segment):
        return extension.sums(x, segment, self.segments)
