"""Beside lesson 13: one tile on tensor cores; and float32 as three bfloat16 numbers, six of nine products."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <cuda_bf16.h>
#include <mma.h>

// region: tile
namespace wmma = nvcuda::wmma;
using Number = __nv_bfloat16;

__global__ void mean_of_two(const Number* a, const Number* b, const Number* d, float* c) {
    wmma::fragment<wmma::matrix_a, 32, 8, 16, Number, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, Number, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 32, 8, 16, float> one, two;
    wmma::fill_fragment(one, 0.0f);
    wmma::fill_fragment(two, 0.0f);
    wmma::load_matrix_sync(left, a, 16);  // 32 rows, 16 numbers from one to the next
    wmma::load_matrix_sync(right, b, 8);
    wmma::mma_sync(one, left, right, one);  // one = left * right + one
    wmma::load_matrix_sync(right, d, 8);
    wmma::mma_sync(two, left, right, two);
    for (int e = 0; e < one.num_elements; ++e)  // this thread's 8 of 256
        one.x[e] = (one.x[e] + two.x[e]) / 2;
    wmma::store_matrix_sync(c, one, 8, wmma::mem_row_major);
}
// endregion

torch::Tensor tile(torch::Tensor a, torch::Tensor b, torch::Tensor d) {
    auto c = at::empty({32, 8}, a.options().dtype(at::kFloat));
    mean_of_two<<<1, 32, 0, at::cuda::getCurrentCUDAStream()>>>(
        (Number*)a.data_ptr(), (Number*)b.data_ptr(), (Number*)d.data_ptr(), c.data_ptr<float>());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return c;
}
"""
declared = "torch::Tensor tile(torch::Tensor a, torch::Tensor b, torch::Tensor d);"
extension = load_inline("lesson13_tile", declared, cuda_source, functions=["tile"])


# region: parts
def parts_of(x, count):
    """``count`` bfloat16 numbers that add up to x, the largest first."""
    rest, parts = x, []
    for _ in range(count):
        parts.append(rest.bfloat16().float())  # the 8 bits that are there now
        rest = rest - parts[-1]  # exact: what those bits leave
    return parts


def product_of(xs, ws):
    """x @ w.T from their parts: the terms that are large enough to matter."""
    terms = [(i, j) for i in range(len(xs)) for j in range(len(ws)) if i + j < len(xs)]
    return sum(xs[i] @ ws[j].T for i, j in reversed(terms))  # the smallest first


# endregion


torch.manual_seed(0)
a, b, d = (torch.randn(shape, device="cuda").bfloat16() for shape in ((32, 16), (16, 8), (16, 8)))
torch.testing.assert_close(
    extension.tile(a, b, d), a.float() @ (b.float() + d.float()) / 2, rtol=0, atol=1e-5
)

x, w = torch.randn(2, 16, 512, device="cuda")
exact = x.double() @ w.double().T
assert torch.equal(sum(reversed(parts_of(x, 3))), x)  # 8 + 8 + 8 bits: nothing is lost

for count, within in ((1, 5e-3), (2, 2e-5), (3, 1e-6)):
    result = product_of(parts_of(x, count), parts_of(w, count))
    error = ((result.double() - exact).norm() / exact.norm()).item()
    assert within / 50 < error < within
    print(f"{count} parts, {count * (count + 1) // 2} products: error below {within}")
