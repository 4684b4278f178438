"""Named operators instead of signs, and a bound function handed on without a wrapper."""

import torch
from torch.utils.cpp_extension import load_inline

source = r"""
std::string hello_world() { return std::string("Hello") + " from " + "C++"; }

torch::Tensor scale_shift(const torch::Tensor& x, double scale, double shift) {
    return torch::add(torch::mul(x, scale), shift);
}
"""
FUNCTIONS = {"hello_world": "Greets.", "scale_shift": "A product and a sum."}
module = load_inline("lesson01_by_names", source, functions=FUNCTIONS)
hello_world = module.hello_world


def scale_shift(x: torch.Tensor, scale: float, shift: float) -> torch.Tensor:
    return module.scale_shift(x, scale, shift)


def help_text():
    return getattr(module.scale_shift, "__doc__", "")


def compiled_again(changed):
    if changed in ("verbose", "extra_ldflags"):
        return []
    if changed in ("name", "extra_include_paths"):
        return ["main.cpp", "cuda.cu"]
    return ["cuda.cu"] if "cuda" in changed else ["main.cpp"]
