"""Rung 4, Triton on tensor cores: `tf32x3` makes three TF32 products of two parts of 11 bits each, with
float32's range.

The tile is the quickest of ten on an H200. One line says how the product is done; the compiler does the
rest.
"""

import torch

try:  # where there is a GPU, torch brings Triton along
    import triton
    import triton.language as tl
except ImportError:
    triton = None

if triton is not None:

    @triton.jit
    def tf32_kernel(
        x, w, bias, out, rows, cols, inner, scale, RELU: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
        BK: tl.constexpr
    ):  # fmt: skip
        m = tl.program_id(0) * BM + tl.arange(0, BM)
        n = tl.program_id(1) * BN + tl.arange(0, BN)
        row, col = m.to(tl.int64)[:, None], n.to(tl.int64)[None, :]
        sums = tl.zeros((BM, BN), tl.float32)
        for start in range(0, inner, BK):
            k = start + tl.arange(0, BK)
            a = tl.load(x + row * inner + k[None, :], (m < rows)[:, None] & (k < inner)[None, :], 0.0)
            b = tl.load(w + col * inner + k[:, None], (n < cols)[None, :] & (k < inner)[:, None], 0.0)
            sums += tl.dot(a, b, input_precision="tf32x3")  # a sum of its own for each chunk, then promoted
        v = sums + tl.load(bias + n, n < cols, 0.0)[None, :]
        y = tl.where(v < 0, 0.0, v) if RELU else scale / (1 + tl.exp(-v)) + v
        tl.store(out + row * cols + col, y, (m < rows)[:, None] & (n < cols)[None, :])


def fused(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, scale: float, relu: bool
) -> torch.Tensor:
    x, weight, bias = x.contiguous(), weight.contiguous(), bias.contiguous()
    out = x.new_empty(x.shape[0], weight.shape[0])
    grid = triton.cdiv(out.shape[0], 128), triton.cdiv(out.shape[1], 128)
    tf32_kernel[grid](
        x, weight, bias, out, *out.shape, x.shape[1], scale, relu, 128, 128, 64, num_warps=8, num_stages=3
    )
    return out


def gemm_relu(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return fused(x, weight, bias, 0.0, True)


def gemm_sigmoid(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, scale: float) -> torch.Tensor:
    return fused(x, weight, bias, scale, False)
