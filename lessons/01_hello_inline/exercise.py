"""Lesson 01: two C++ functions, compiled and bound by load_inline, called from Python."""

import torch
from torch.utils.cpp_extension import load_inline

cpp_source = r"""
// TODO 1: Python asks for hello_world (see `functions` below). Is that what this is called?
std::string helo_world() {
    return "Hello from C++";
}

// TODO 2: return a new tensor, x * scale + shift. A torch::Tensor knows * and +, as in Python.
torch::Tensor scale_shift(const torch::Tensor& x, double scale, double shift) {
    return x;
}
"""

extension = load_inline(
    name="lesson01_hello",
    cpp_sources=cpp_source,
    # TODO 3: bind scale_shift too. A dict {name: docstring} gives both a help text.
    functions=["hello_world"],
)


def compiled_again(changed: str) -> list[str]:
    """Which files of a CUDA module are compiled again when only this argument of load_inline has changed?"""
    # TODO 4: "main.cpp", "cuda.cu", both in this order, or neither? The page says what goes where.
    return ["main.cpp", "cuda.cu"]


def hello_world() -> str:
    return extension.hello_world()


def scale_shift(x: torch.Tensor, scale: float, shift: float) -> torch.Tensor:
    return extension.scale_shift(x, scale, shift)


def help_text() -> str:
    return extension.scale_shift.__doc__


if __name__ == "__main__":
    print(hello_world())
    print(scale_shift(torch.tensor([1.0, 2.0, 3.0]), 10.0, 0.5))
    print(help_text())
    print(compiled_again("functions"))
