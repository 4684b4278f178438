"""Lesson 01's sibling: two other C++ functions, bound with their help texts and called."""

import torch
from torch.utils.cpp_extension import load_inline

# region: source
cpp_source = r"""
std::string greet(const std::string& name) {
    return "Hello, " + name;
}

torch::Tensor distance(const torch::Tensor& a, const torch::Tensor& b) {
    return (a - b).abs();
}
"""

extension = load_inline(
    name="lesson01_sibling",
    cpp_sources=cpp_source,
    functions={"greet": "Greet somebody.", "distance": "Return |a - b| as a new tensor."},
)
# endregion

assert extension.greet("Ada") == "Hello, Ada"
apart = extension.distance(torch.tensor([1.0, 5.0]), torch.tensor([4.0, 3.0]))
assert apart.tolist() == [3.0, 2.0]
assert extension.distance.__doc__.endswith("Return |a - b| as a new tensor.\n")
print(apart)
