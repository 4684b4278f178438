"""Lesson 01: two C++ functions, compiled and bound by load_inline, called from Python."""

import torch
from torch.utils.cpp_extension import load_inline

# region: cpp
cpp_source = r"""
// starter: // TODO 1: Python asks for hello_world (see `functions` below). Is that what this is called?
// starter: std::string helo_world() {
// solution: begin
std::string hello_world() {
// solution: end
    return "Hello from C++";
}

// starter: // TODO 2: return a new tensor, x * scale + shift. A torch::Tensor knows * and +, as in Python.
torch::Tensor scale_shift(const torch::Tensor& x, double scale, double shift) {
    // starter: return x;
    // solution: begin
    return x * scale + shift;
    // solution: end
}
"""
# endregion

# region: build
extension = load_inline(
    name="lesson01_hello",
    cpp_sources=cpp_source,
    # starter: # TODO 3: bind scale_shift too. A dict {name: docstring} gives both a help text.
    # starter: functions=["hello_world"],
    # solution: begin
    functions={
        "hello_world": "Return a greeting from C++.",
        "scale_shift": "Return x * scale + shift as a new tensor.",
    },
    # solution: end
)
# endregion


# region: again
def compiled_again(changed: str) -> list[str]:
    """Which files of a CUDA module are compiled again when only this argument of load_inline has changed?"""
    # starter: # TODO 4: "main.cpp", "cuda.cu", both in this order, or neither? The page says what goes where.
    # starter: return ["main.cpp", "cuda.cu"]
    # solution: begin
    files = []
    if changed in ("cpp_sources", "functions", "extra_cflags", "extra_include_paths", "name"):
        files.append("main.cpp")
    if changed in ("cuda_sources", "extra_cuda_cflags", "extra_include_paths", "name"):
        files.append("cuda.cu")
    return files
    # solution: end


# endregion


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
