"""The same functions bound twice: by simt/binding.h, and by pybind11 itself because one type asks for it."""

import torch
from torch.utils.cpp_extension import load_inline

DECLARED = """
at::Tensor twice(at::Tensor x);
at::Tensor scaled(const at::Tensor& x, double by, int64_t shift, bool negative);
void fill(at::Tensor& x, float value);
std::string words(const std::string& text, at::ScalarType dtype);
int64_t count(std::vector<at::Tensor> tensors, std::optional<at::Tensor> one, std::vector<int64_t> sizes);
std::tuple<at::Tensor, at::Tensor> both(at::Tensor x);
unsigned limited(unsigned n);
int fails(at::Tensor x);
"""
SOURCE = (
    "#include <stdexcept>\n"
    + DECLARED
    + """
at::Tensor twice(at::Tensor x) { return x + x; }
at::Tensor scaled(const at::Tensor& x, double by, int64_t shift, bool negative) {
    return (x * by + shift) * (negative ? -1 : 1);
}
void fill(at::Tensor& x, float value) { x.fill_(value); }
std::string words(const std::string& text, at::ScalarType dtype) { return text + " " + c10::toString(dtype); }
int64_t count(std::vector<at::Tensor> tensors, std::optional<at::Tensor> one, std::vector<int64_t> sizes) {
    return 100 * tensors.size() + 10 * one.has_value() + sizes.size();
}
std::tuple<at::Tensor, at::Tensor> both(at::Tensor x) { return {x + 1, x - 1}; }
unsigned limited(unsigned n) { return n; }
int fails(at::Tensor x) {
    if (x.dim() > 1) throw std::out_of_range("too many dimensions");
    TORCH_CHECK(false, "no dimensions");
}
"""
)
NAMES = ["twice", "scaled", "fill", "words", "count", "both", "limited", "fails"]
EXOTIC = "int64_t last(at::IntArrayRef sizes) { return sizes.back(); }\n"


def tried(function, *args) -> str:
    """What a call returns, or how it fails."""
    try:
        value = function(*args)
    except Exception as error:
        return (
            f"{type(error).__name__}: {str(error).splitlines()[0]}"
            if "supported" not in str(error)
            else (f"{type(error).__name__}: {error}")
        )
    tensors = value if isinstance(value, tuple) else (value,)
    return str([t.tolist() if isinstance(t, torch.Tensor) else t for t in tensors])


def seen(module) -> dict[str, str]:
    x = torch.arange(3.0)
    filled = torch.zeros(2)
    calls = {
        "twice": (x,), "scaled": (x, 2, 1, True), "fill": (filled, 7.0), "words": ("a", torch.float16),
        "count": ([x, x], None, [4, 5]), "both": (x,), "limited": (3,), "fails": (x,),
    }  # fmt: skip
    said = {f"{name}()": tried(getattr(module, name), *args) for name, args in calls.items()}
    said["filled"] = str(filled.tolist())
    said["no tensor"] = tried(module.twice, 3)
    said["None"] = tried(module.twice, None)
    said["too few"] = tried(module.scaled, x)
    said["a float for an int"] = tried(module.scaled, x, 1.0, 1.5, True)
    said["below zero"] = tried(module.limited, -1)
    said["another exception"] = tried(module.fails, x[None])
    said["an optional one"] = tried(module.count, (x,), x, ())
    said["by name"] = tried(lambda: module.twice(x=x))
    said |= {f"doc of {name}": str(getattr(module, name).__doc__) for name in NAMES}
    said |= {f"type of {name}": type(getattr(module, name)).__name__ for name in NAMES}
    return said | {"module": module.__name__}


def cases():
    def own(runtime):
        return seen(load_inline("bound", SOURCE, functions=NAMES))

    def pybind(runtime):
        both = load_inline("bound", SOURCE + EXOTIC, functions=[*NAMES, "last"])
        assert both.last([4, 5, 6]) == 6
        return seen(both)

    return {"own": own, "pybind": pybind}
