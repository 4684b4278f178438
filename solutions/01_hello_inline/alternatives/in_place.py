"""A copy that is changed in place; one docstring for each function."""

from torch.utils.cpp_extension import load_inline

cpp_source = r"""
const char* hello_world() { return "Hello from C++"; }

torch::Tensor scale_shift(torch::Tensor x, double scale, double shift) {
    torch::Tensor out = x.clone();
    out.mul_(scale);
    return out.add_(shift);
}
"""
extension = load_inline(
    name="lesson01_in_place",
    cpp_sources=[cpp_source],
    functions={"hello_world": "Greets.", "scale_shift": "A scaled and shifted copy."},
)


def hello_world():
    return str(extension.hello_world())


def scale_shift(x, scale, shift):
    return extension.scale_shift(x, scale, shift)


def help_text():
    return extension.scale_shift.__doc__


def compiled_again(changed):
    both = {"extra_include_paths", "name"}
    of = {"main.cpp": both | {"cpp_sources", "functions", "extra_cflags"}}
    of["cuda.cu"] = both | {"cuda_sources", "extra_cuda_cflags"}
    return [file for file, arguments in of.items() if changed in arguments]
