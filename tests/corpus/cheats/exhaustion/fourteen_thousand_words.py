"""Its source says __shared__ fourteen thousand times, which whoever rewrites it has to look at.

class: exhaustion
catalogue: -
task: double
expected: compile_error
"""

from torch.utils.cpp_extension import load_inline

CUDA = "__shared__ " * 14_000

module = load_inline("hostile", "torch::Tensor f(torch::Tensor x);", cuda_sources=CUDA, functions=["f"])


def double(x):
    return module.f(x)
