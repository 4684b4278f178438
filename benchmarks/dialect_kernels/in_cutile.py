"""Bias and ReLU in cuTile: a block has tiles of values, and neither threads nor addresses."""

from __future__ import annotations

import cuda.tile as ct
import torch

ROWS, COLS = 4, 1024


# region: kernel
@ct.kernel
def bias_relu_kernel(x, bias, out, ROWS: ct.Constant[int], COLS: ct.Constant[int]):
    across, down = ct.bid(0), ct.bid(1)
    v = ct.load(x, index=(down, across), shape=(ROWS, COLS)) + ct.load(bias, index=(across,), shape=(COLS,))
    ct.store(out, index=(down, across), tile=ct.where(v < 0, 0.0, v))


# endregion


def bias_relu(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    out, (rows, cols) = torch.empty_like(x), x.shape
    grid = ct.cdiv(cols, COLS), ct.cdiv(rows, ROWS)
    ct.launch(torch.cuda.current_stream(), grid, bias_relu_kernel, (x, bias, out, ROWS, COLS))
    return out
