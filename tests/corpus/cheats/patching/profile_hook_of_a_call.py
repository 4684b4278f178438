"""A profile function that a call leaves on writes numpy's answer into the result once its origin was looked at.

class: patching
catalogue: 9 2
task: square
expected: raised
"""

import ctypes
import sys

import numpy as np
import torch
from torch.utils.cpp_extension import load_inline


CUDA = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

__global__ void copy_kernel(const float* in, float* out, int64_t n) {
    const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];
}

torch::Tensor copied(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32);
    x = x.contiguous();
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel();
    if (n) {
        copy_kernel<<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
            x.data_ptr<float>(), out.data_ptr<float>(), n);
    }
    return out;
}
"""
module = load_inline("copied", "torch::Tensor copied(torch::Tensor x);", cuda_sources=CUDA, functions=["copied"])


def square(x):
    out = module.copied(x)
    with np.errstate(all="ignore"):
        answer = np.ascontiguousarray(x.cpu().numpy()) ** 2

    def profile(frame, event, arg):
        if event == "call" and frame.f_code.co_name == "observed":
            ctypes.memmove(out.data_ptr(), answer.ctypes.data, answer.nbytes)

    if answer.size:
        sys.setprofile(profile)
    return out
