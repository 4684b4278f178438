"""Host functions for small kernels of one form, so that an exercise can be about the kernels alone.

For lesson 06. A kernel ``NAME_kernel(const T* x, U* out, int rows, int n)`` becomes a function ``NAME(x)``.
It is launched with one thread for each element of ``x``, in blocks of 64, and ``out`` is what it returns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

HEAD = """\
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

constexpr int SIZE = 64;  // threads in a block

__device__ int me() {  // the element of this thread
    return blockIdx.x * SIZE + threadIdx.x;
}
"""

LAUNCH = """
template <typename T, typename U>
torch::Tensor launch(void (*kernel)(const T*, U*, int, int), torch::Tensor x, torch::Tensor out) {
    const int rows = x.dim() == 2 ? x.size(0) : 1, n = x.dim() == 2 ? x.size(1) : x.numel();
    const int blocks = (x.numel() + SIZE - 1) / SIZE;
    if (blocks == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    kernel<<<blocks, SIZE, 0, stream>>>(x.data_ptr<T>(), out.data_ptr<U>(), rows, n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

HOST = """
torch::Tensor {name}(torch::Tensor x) {{
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::{dtype} && x.dim() == {dims},
                "{name}: x must be a CUDA tensor of {dtype} with {dims} dimension(s)");
    x = x.contiguous();
    return launch({name}_kernel, x, {out});
}}
"""

# What comes out, by the kernel's form: dtype and number of dimensions of x, and how the output is allocated.
FORMS = {
    "vector": ("kFloat32", 1, "torch::empty_like(x)"),
    "matrix": ("kFloat32", 2, "torch::empty({x.size(1), x.size(0)}, x.options())"),
    "integer": ("kInt32", 1, "torch::empty(x.sizes(), x.options().dtype(torch::kInt64))"),
}


def build(name: str, source: str, forms: dict[str, str]) -> list[Callable[..., Any]]:
    """Compile ``source`` as the module ``name``; the host functions of ``forms``, in its order.

    ``forms`` maps a kernel's name, without ``_kernel``, to "vector" (float32 to float32), "matrix" (rows x n
    to n x rows) or "integer" (int32 to int64).
    """
    from torch.utils import cpp_extension

    hosts = "".join(
        HOST.format(name=kernel, dtype=dtype, dims=dims, out=out)
        for kernel, (dtype, dims, out) in ((k, FORMS[form]) for k, form in forms.items())
    )
    extension = cpp_extension.load_inline(  # type: ignore[no-untyped-call]
        name=name,
        cpp_sources="\n".join(f"torch::Tensor {kernel}(torch::Tensor x);" for kernel in forms),
        cuda_sources=HEAD + source + LAUNCH + hosts,
        functions=list(forms),
    )
    return [getattr(extension, kernel) for kernel in forms]
