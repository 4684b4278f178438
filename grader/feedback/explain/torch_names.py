"""What PyTorch's names in Python are called in C++."""

from __future__ import annotations

import re

DTYPES = {
    "float32": "kFloat32", "float": "kFloat", "float64": "kFloat64", "double": "kDouble", "float16": "kFloat16",
    "half": "kHalf", "bfloat16": "kBFloat16", "int8": "kInt8", "int16": "kInt16", "short": "kInt16", "int32": "kInt32",
    "int": "kInt", "int64": "kInt64", "long": "kLong", "uint8": "kUInt8", "bool": "kBool",
}  # fmt: skip
OTHERS = {
    "torch.cuda.current_stream()": "at::cuda::getCurrentCUDAStream()",
    "torch.cuda.current_stream().cuda_stream": "at::cuda::getCurrentCUDAStream()",
    "torch.cuda.synchronize()": "cudaDeviceSynchronize()",
    "torch.cuda.is_available()": "torch::cuda::is_available()",
}
DOTTED = re.compile(r"\b(?:torch|at|c10|std)(?:\s?\.\s?\w+(?:\(\))?)+")


def in_cpp(name: str) -> str:
    """The C++ name of ``torch.float32``, ``torch.empty_like``, ``at.Tensor``."""
    name = re.sub(r"\s", "", name)
    if name in OTHERS:
        return OTHERS[name]
    space, _, rest = name.partition(".")
    first, _, more = rest.partition(".")
    return f"{space}::{DTYPES.get(first, first) if space != 'std' else first}" + (
        f"::{more}" if more else ""
    ).replace(".", "::")


def with_colons(code: str) -> list[str]:
    """What to write for the names with dots in a line of C++, each once, in quotes."""
    return [f"`{one}`" for one in dict.fromkeys(in_cpp(m[0]) for m in DOTTED.finditer(code))]


def dtype(name: str) -> str:
    """``kFloat32`` for ``float32``; "" if it is no dtype of Python."""
    return DTYPES.get(name, "")
