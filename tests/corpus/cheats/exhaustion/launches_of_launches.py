"""Launches what a launch returns, sixty deep: each would stand twice in the next.

class: exhaustion
catalogue: -
task: double
expected: compile_error
"""

from torch.utils.cpp_extension import load_inline

CUDA = "(k<<<1, 1>>>(x)" * 60 + ")<<<1, 1>>>(x)" * 60

module = load_inline("hostile", "torch::Tensor f(torch::Tensor x);", cuda_sources=CUDA, functions=["f"])


def double(x):
    return module.f(x)
