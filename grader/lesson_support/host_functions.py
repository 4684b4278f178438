"""Host functions for small kernels of one form, so that an exercise can be about the kernels alone.

For lesson 06. A kernel ``NAME_kernel(const T* x, U* out, int rows, int n)`` becomes a function ``NAME(x)``.
It is launched with one thread for each element of ``x``, in blocks of 64, and ``out`` is what it returns.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD = """\
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

constexpr int SIZE = 64;  // threads in a block

__device__ int me() {  // the element of this thread
    return blockIdx.x * SIZE + threadIdx.x;
}
"""

HOST = """
torch::Tensor {name}(torch::Tensor x) {{
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::{dtype} && x.dim() == {dims},
                "{name}: x must be a CUDA tensor of {python} with {dims} dimension{s}{why}; this one is of ",
                torch::toString(x.scalar_type()), " with ", x.dim(), x.is_cuda() ? "" : ", on the CPU");
    x = x.contiguous();
    torch::Tensor out = {out};
    const int rows = x.dim() == 2 ? x.size(0) : 1, n = x.size(-1), blocks = (x.numel() + SIZE - 1) / SIZE;
    if (blocks == 0) return out;
    {name}_kernel<<<blocks, SIZE, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<{source}>(), out.data_ptr<{target}>(), rows, n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}}
"""

KERNEL = re.compile(r"__global__\s+void\s+(\w+_kernel)\s*\(([^)]*)\)")
SIGNATURE = re.compile(
    r"void (\w+)_kernel\(const (float|int)\* x, (float|int64_t)\* out, int( rows)?, int n\)"
)
DTYPES = {"float": "kFloat32", "int": "kInt32", "int64_t": "kInt64"}


def build(name: str, source: str) -> list[Callable[..., Any]]:
    """Compile ``source`` as the module ``name``; the host functions of its kernels, in their order.

    A kernel that names its parameter ``rows`` turns a matrix of rows x n into one of n x rows; others turn a
    vector of n elements into one of n. ``T`` is float or int, ``U`` float or int64_t.
    """
    from torch.utils import cpp_extension

    found = SIGNATURE.findall(source)
    known = {f"{kernel}_kernel" for kernel, *_ in found}
    for kernel, parameters in KERNEL.findall(source):
        if kernel not in known:
            raise ValueError(
                f"{kernel}({' '.join(parameters.split())}) gets no host function: that needs the form "
                "NAME_kernel(const float* x, float* out, int rows, int n)"
            )
    names = [kernel for kernel, *_ in found]
    extension = cpp_extension.load_inline(  # type: ignore[no-untyped-call]
        name=name,
        cpp_sources="\n".join(f"torch::Tensor {kernel}(torch::Tensor x);" for kernel in names),
        cuda_sources=HEAD + source + "".join(_host(*parts) for parts in found),
        functions=names,
    )
    return [getattr(extension, kernel) for kernel in names]


def _host(name: str, source: str, target: str, rows: str) -> str:
    shape = "{x.size(1), x.size(0)}" if rows else "x.sizes()"
    return HOST.format(
        name=name, source=source, target=target, dtype=DTYPES[source], dims=2 if rows else 1,
        s="s" if rows else "", why=", because the kernel names its parameter rows" if rows else "",
        python={"float": "torch.float32", "int": "torch.int32"}[source],
        out=f"torch::empty({shape}, x.options().dtype(torch::{DTYPES[target]}))",
    )  # fmt: skip
