"""Rung 5, Triton again: half precision is twice as fast as TF32, and a split by hand gives it 22 bits.

This is the solution of the lesson. It splits a tile as it is: a number beyond 65504 is out of its range,
and one far below 2^-24 of 1 is lost. Rung 6 begins with the remedy.
"""

import torch

try:  # where there is a GPU, torch brings Triton along
    import triton
    import triton.language as tl
except ImportError:
    triton = None

if triton is not None:

    @triton.jit
    def half_kernel(
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
            ah, bh = a.to(tl.float16), b.to(tl.float16)
            al = ((a - ah.to(tl.float32)) * 2048).to(tl.float16)
            bl = ((b - bh.to(tl.float32)) * 2048).to(tl.float16)
            cross = tl.dot(al, bh, tl.dot(ah, bl))
            sums += tl.dot(ah, bh) + cross * (1 / 2048)  # a sum of its own for each chunk, then promoted
        v = sums + tl.load(bias + n, n < cols, 0.0)[None, :]
        y = tl.where(v < 0, 0.0, v) if RELU else scale / (1 + tl.exp(-v)) + v
        tl.store(out + row * cols + col, y, (m < rows)[:, None] & (n < cols)[None, :])


def fused(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, scale: float, relu: bool
) -> torch.Tensor:
    x, weight, bias = x.contiguous(), weight.contiguous(), bias.contiguous()
    out = x.new_empty(x.shape[0], weight.shape[0])
    grid = triton.cdiv(out.shape[0], 128), triton.cdiv(out.shape[1], 128)
    half_kernel[grid](
        x, weight, bias, out, *out.shape, x.shape[1], scale, relu, 128, 128, 64, num_warps=8, num_stages=3
    )
    return out


def gemm_relu(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return fused(x, weight, bias, 0.0, True)


def gemm_sigmoid(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, scale: float) -> torch.Tensor:
    return fused(x, weight, bias, scale, False)
