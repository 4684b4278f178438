"""Capstone: a causal convolution of each channel and SiLU, a thread an element."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
constexpr int THREADS = 256;
__global__ void conv_kernel(const float* x, const float* weight, const float* bias, float* out,
                            int64_t elements, int64_t channels, int64_t length, int taps) {
    // TODO 1: bias, plus the element and the taps - 1 before it, weighted; then silu.
}
torch::Tensor conv(torch::Tensor x, torch::Tensor weight, torch::Tensor bias) {
    const torch::Tensor in = x.contiguous(), out = torch::empty_like(in);
    const int64_t elements = in.numel();
    if (elements == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    conv_kernel<<<(elements + THREADS - 1) / THREADS, THREADS, 0, stream>>>(
        in.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(), out.data_ptr<float>(),
        elements, in.size(1), in.size(2), weight.size(2));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
declared = "torch::Tensor conv(torch::Tensor x, torch::Tensor weight, torch::Tensor bias);"
extension = load_inline("capstone_depthwise_conv", declared, cuda_source, functions=["conv"])


class ModelNew(torch.nn.Module):
    def __init__(self, channels, taps):
        super().__init__()
        self.conv = torch.nn.Conv1d(channels, channels, taps, groups=channels, padding=taps - 1)

    def forward(self, x):
        return extension.conv(x, self.conv.weight, self.conv.bias)
