"""Kernels for the tests of trials: doubling, done right twice and wrong in three ways."""

import torch
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
__global__ void k(const float* x, float* out, int n, int last, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < last) out[i] = factor * x[i];
}
torch::Tensor doubled(torch::Tensor x, int64_t more, double factor) {
    TORCH_CHECK(x.dim() == 1, "one dimension only");
    torch::Tensor out = torch::empty_like(x);
    const int n = x.numel();
    k<<<(n + 31) / 32, 32>>>(x.data_ptr<float>(), out.data_ptr<float>(), n, n + more, factor);
    return out;
}
"""
extension = load_inline(
    name="test_kernels",
    cpp_sources="torch::Tensor doubled(torch::Tensor x, int64_t more, double factor);",
    cuda_sources=source,
    functions=["doubled"],
)


def right(x: torch.Tensor) -> torch.Tensor:
    return extension.doubled(x.contiguous(), 0, 2.0)


def also_right(x: torch.Tensor) -> torch.Tensor:
    assert x.dim() == 1
    return x + x


def no_guard(x: torch.Tensor) -> torch.Tensor:
    return extension.doubled(x.contiguous(), 31, 2.0)


def tripled(x: torch.Tensor) -> torch.Tensor:
    return extension.doubled(x.contiguous(), 0, 3.0)


def in_place(x: torch.Tensor) -> torch.Tensor:
    x.mul_(2)
    return x.clone()


def any_layout(x: torch.Tensor) -> torch.Tensor:
    return extension.doubled(x, 0, 2.0)
