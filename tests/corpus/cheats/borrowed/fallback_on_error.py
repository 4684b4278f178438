"""The kernel does not compile; try/except hides it and torch does the work.

class: borrowed
catalogue: 73
task: square
expected: compile_error
"""

import torch
from torch.utils.cpp_extension import load_inline

SOURCE = "__global__ void square_kernel(const float* in, float* out) { out[0] = in[0] * in[0] }"

try:
    extension = load_inline(name="square", cpp_sources="", cuda_sources=SOURCE, functions=["square"])
except Exception:
    extension = None


def square(x):
    if not x.is_cuda:
        raise ValueError("x must be on a CUDA device")
    return extension.square(x) if extension else x * x
