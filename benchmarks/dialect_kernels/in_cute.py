"""Bias and ReLU in the CuTe DSL: threads, as in CUDA, and tensors that are cut by layouts."""

from __future__ import annotations

from functools import cache

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute
import torch
from cutlass.cute.runtime import from_dlpack

ROWS, WIDE, THREADS = 4, 4, 256  # a thread has four rows of four neighbours


# region: kernel
@cute.kernel
def bias_relu_kernel(x: cute.Tensor, bias: cute.Tensor, out: cute.Tensor):
    (thread, _, _), (across, down, _) = cute.arch.thread_idx(), cute.arch.block_idx()
    col = across * THREADS + thread  # in units of WIDE
    if col * WIDE < cute.size(x, mode=[1]):
        own = cute.make_rmem_tensor(cute.make_layout((ROWS, WIDE), stride=(WIDE, 1)), cutlass.Float32)
        own.fill(0.0)
        for r in cutlass.range_constexpr(ROWS):
            if down * ROWS + r < cute.size(x, mode=[0]):
                four = cute.local_tile(x, (1, WIDE), (down * ROWS + r, col))
                cute.autovec_copy(four, cute.local_tile(own, (1, WIDE), (r, 0)))
        b = cute.local_tile(bias, (WIDE,), (col,)).load().reshape((1, WIDE))
        v = own.load() + b.broadcast_to((ROWS, WIDE))
        own.store(cute.where(v < 0, cute.zeros_like(v), v))
        for r in cutlass.range_constexpr(ROWS):
            if down * ROWS + r < cute.size(x, mode=[0]):
                four = cute.local_tile(out, (1, WIDE), (down * ROWS + r, col))
                cute.autovec_copy(cute.local_tile(own, (1, WIDE), (r, 0)), four)


@cute.jit
def launch(x: cute.Tensor, bias: cute.Tensor, out: cute.Tensor, stream: cuda.CUstream):
    blocks = (
        cute.ceil_div(cute.size(x, mode=[1]), THREADS * WIDE),
        cute.ceil_div(cute.size(x, mode=[0]), ROWS),
    )
    bias_relu_kernel(x, bias, out).launch(grid=(*blocks, 1), block=(THREADS, 1, 1), stream=stream)


# endregion


@cache
def compiled(rows: int, cols: int):
    """For this size: layouts are known when it is compiled."""
    if cols % WIDE:
        raise ValueError(f"{cols} columns are no multiple of {WIDE}")
    x, bias = (torch.empty(size, device="cuda") for size in ((rows, cols), (cols,)))
    stream = cuda.CUstream(torch.cuda.current_stream().cuda_stream)
    return cute.compile(launch, *map(tensor, (x, bias, x)), stream)


def tensor(x: torch.Tensor) -> cute.Tensor:
    return from_dlpack(x, assumed_align=16)


def bias_relu(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    stream = cuda.CUstream(torch.cuda.current_stream().cuda_stream)
    compiled(*x.shape)(tensor(x), tensor(bias), tensor(out), stream)
    return out
