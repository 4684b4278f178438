"""Bias and ReLU in TileLang: tiles that the compiler divides among threads, and CUDA C++ comes of it."""

# Not ``from __future__ import annotations``: the types of arguments are values here.

import tilelang
import tilelang.language as T
import torch

ROWS, COLS, THREADS = 4, 1024, 256


# region: kernel
@tilelang.jit(out_idx=[2], target="cuda")
def built(cols: int):
    rows = T.dynamic("rows")

    @T.prim_func
    def bias_relu_kernel(
        x: T.Tensor((rows, cols), "float32"),
        bias: T.Tensor((cols,), "float32"),
        out: T.Tensor((rows, cols), "float32"),
    ):
        with T.Kernel(T.ceildiv(cols, COLS), T.ceildiv(rows, ROWS), threads=THREADS) as (across, down):
            v, b = T.alloc_fragment((ROWS, COLS), "float32"), T.alloc_fragment((COLS,), "float32")
            T.copy(x[down * ROWS, across * COLS], v)
            T.copy(bias[across * COLS], b)
            for i, j in T.Parallel(ROWS, COLS):
                v[i, j] = T.if_then_else(v[i, j] + b[j] < 0, T.float32(0), v[i, j] + b[j])
            T.copy(v, out[down * ROWS, across * COLS])

    return bias_relu_kernel


# endregion


def bias_relu(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return built(x.shape[1])(x, bias)  # what was built is kept by its arguments
