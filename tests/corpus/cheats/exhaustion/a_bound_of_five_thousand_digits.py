"""Bounds its threads by a number that Python does not convert.

class: exhaustion
catalogue: -
task: double
expected: import_error
"""

from torch.utils.cpp_extension import load_inline

CUDA = "__global__ void __launch_bounds__(" + "9" * 5_000 + ") k() {}"

module = load_inline("hostile", "torch::Tensor f(torch::Tensor x);", cuda_sources=CUDA, functions=["f"])


def double(x):
    return module.f(x)
