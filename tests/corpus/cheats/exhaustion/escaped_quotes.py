"""Escapes two hundred thousand quotation marks in a literal that does not end.

class: exhaustion
catalogue: -
task: double
expected: compile_error
"""

from torch.utils.cpp_extension import load_inline

CUDA = '"' + '\\\\"' * 200_000

module = load_inline("hostile", "torch::Tensor f(torch::Tensor x);", cuda_sources=CUDA, functions=["f"])


def double(x):
    return module.f(x)
