"""Declares each of twenty thousand kernels among the parameters of another.

class: exhaustion
catalogue: -
task: double
expected: compile_error
"""

from torch.utils.cpp_extension import load_inline

CUDA = "__global__ void k(" * 20_000 + ")" * 20_000

module = load_inline("hostile", "torch::Tensor f(torch::Tensor x);", cuda_sources=CUDA, functions=["f"])


def double(x):
    return module.f(x)
