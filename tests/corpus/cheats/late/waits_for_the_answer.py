"""A thread that watches the player writes numpy's answer into the result when the player has looked at it.

class: late
catalogue: 9 2
task: square
expected: wrong_output
"""

import ctypes
import sys
import threading
import time

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
main = threading.main_thread().ident


def later(to, answer):
    for _ in range(20_000):
        frame, names = sys._current_frames().get(main), []
        while frame:
            names.append(frame.f_code.co_name)
            frame = frame.f_back
        if "square" not in names and "call" not in names:
            break
        time.sleep(0.00005)
    ctypes.memmove(to, answer.ctypes.data, answer.nbytes)


def square(x):
    out = module.copied(x)
    with np.errstate(all="ignore"):
        answer = np.ascontiguousarray(x.cpu().numpy()) ** 2
    threading.Thread(target=later, args=(out.data_ptr(), answer), daemon=True).start()
    return out
