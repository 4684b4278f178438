"""Capstone: cross-entropy of rows, a block a row, each logit read once."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
constexpr int THREADS = 256, WARPS = THREADS / 32;
__global__ void loss_kernel(const float* logits, const int64_t* labels, float* out, int64_t classes) {
    // TODO 1: log(sum of exp(logit)) of the block's row, minus the logit of its label.
}
torch::Tensor loss(torch::Tensor logits, torch::Tensor labels) {
    const torch::Tensor in = logits.contiguous(), of = labels.contiguous();
    const torch::Tensor out = torch::empty({in.size(0)}, in.options());
    if (in.size(0) == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    loss_kernel<<<in.size(0), THREADS, 0, stream>>>(in.data_ptr<float>(), of.data_ptr<int64_t>(),
                                                    out.data_ptr<float>(), in.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
declared = "torch::Tensor loss(torch::Tensor logits, torch::Tensor labels);"
extension = load_inline("capstone_cross_entropy", declared, cuda_source, functions=["loss"])


class ModelNew(torch.nn.Module):
    def forward(self, logits, labels):
        return extension.loss(logits, labels)
