"""Softmax, RMSNorm, its derivative and cross-entropy in Triton: peers of ``solutions/15_softmax/rows.py``.

A program has a row, as in Triton's tutorials of softmax and of layer normalisation. The derivative goes
from row to row and keeps its part of the weight's gradient, which PyTorch then adds up; cross-entropy goes
along its row in pieces, since it needs no element twice.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x, out, cols, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    row, at = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    v = tl.load(x + row * cols + at, at < cols, -float("inf")).to(tl.float32)
    v = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * cols + at, v / tl.sum(v, 0), at < cols)


@triton.jit
def norm_kernel(x, w, out, cols, eps, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    row, at = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    v = tl.load(x + row * cols + at, at < cols, 0.0).to(tl.float32)
    weight = tl.load(w + at, at < cols, 0.0).to(tl.float32)
    tl.store(out + row * cols + at, v * tl.rsqrt(tl.sum(v * v, 0) / cols + eps) * weight, at < cols)


@triton.jit
def back_kernel(x, w, g, out, parts, rows, cols, eps, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    at = tl.arange(0, BLOCK)
    weight = tl.load(w + at, at < cols, 0.0).to(tl.float32)
    of_weight = tl.zeros((BLOCK,), tl.float32)
    for i in range(tl.program_id(0), rows, tl.num_programs(0)):
        row = i.to(tl.int64) * cols
        v = tl.load(x + row + at, at < cols, 0.0).to(tl.float32)
        grad = tl.load(g + row + at, at < cols, 0.0).to(tl.float32)
        scale = tl.rsqrt(tl.sum(v * v, 0) / cols + eps)
        back = tl.sum(grad * weight * v, 0) / cols * scale * scale
        tl.store(out + row + at, scale * (grad * weight - v * back), at < cols)
        of_weight += grad * v * scale
    tl.store(parts + tl.program_id(0) * cols + at, of_weight, at < cols)


@triton.jit
def loss_kernel(x, targets, out, cols, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    row = tl.program_id(0).to(tl.int64)
    largest, total = -float("inf"), 0.0
    for begin in range(0, cols, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        v = tl.load(x + row * cols + at, at < cols, -float("inf")).to(tl.float32)
        above = tl.maximum(largest, tl.max(v, 0))
        base = tl.where(above == -float("inf"), 0.0, above)
        total = total * tl.exp(largest - base) + tl.sum(tl.exp(v - base), 0)
        largest = above
    wanted = tl.load(x + row * cols + tl.load(targets + row)).to(tl.float32)
    tl.store(out + row, tl.log(total) + largest - wanted)


def _block(cols: int) -> dict[str, int]:
    block = triton.next_power_of_2(cols)
    return {"BLOCK": block, "num_warps": min(32, max(4, block // 512))}


def softmax(x: Any) -> Any:
    out = torch.empty_like(x)
    softmax_kernel[(x.shape[0],)](x, out, x.shape[1], **_block(x.shape[1]))
    return out


def rms_norm(x: Any, weight: Any, eps: float) -> Any:
    out = torch.empty_like(x)
    norm_kernel[(x.shape[0],)](x, weight, out, x.shape[1], eps, **_block(x.shape[1]))
    return out


def rms_norm_back(x: Any, weight: Any, grad: Any, eps: float) -> tuple[Any, Any]:
    out = torch.empty_like(x)
    programs = torch.cuda.get_device_properties(x.device).multi_processor_count
    parts = torch.empty(programs, x.shape[1], dtype=torch.float32, device=x.device)
    back_kernel[(programs,)](x, weight, grad, out, parts, *x.shape, eps, **_block(x.shape[1]))
    return out, parts.sum(0).to(weight.dtype)


def cross_entropy(x: Any, targets: Any) -> Any:
    out = torch.empty(x.shape[0], dtype=torch.float32, device=x.device)
    block = min(32768, triton.next_power_of_2(x.shape[1]))
    loss_kernel[(x.shape[0],)](x, targets, out, x.shape[1], BLOCK=block, num_warps=16)
    return out.mean().to(x.dtype)
