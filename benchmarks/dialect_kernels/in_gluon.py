"""Bias and ReLU in Gluon: Triton, but which thread has which elements is written down."""

from __future__ import annotations

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

ROWS, COLS, WARPS = 4, 1024, 8


# region: kernel
@gluon.jit
def bias_relu_kernel(x, bias, out, rows, cols, ROWS: gl.constexpr, COLS: gl.constexpr, WARPS: gl.constexpr):
    # A thread has 4 neighbours, a warp 32 times as many in the same row, and the warps stand side by side.
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [1, 32], [1, WARPS], [1, 0])
    row = gl.program_id(1) * ROWS + gl.arange(0, ROWS, gl.SliceLayout(1, layout))[:, None]
    col = gl.program_id(0) * COLS + gl.arange(0, COLS, gl.SliceLayout(0, layout))[None, :]
    at, inside = row * cols + col, (row < rows) & (col < cols)
    v = gl.load(x + at, inside) + gl.load(bias + col, col < cols)
    gl.store(out + at, gl.where(v < 0, 0.0, v), inside)


# endregion


def bias_relu(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    out, (rows, cols) = torch.empty_like(x), x.shape
    grid = triton.cdiv(cols, COLS), triton.cdiv(rows, ROWS)
    bias_relu_kernel[grid](x, bias, out, rows, cols, ROWS, COLS, WARPS, num_warps=WARPS)
    return out
