"""What tensor core fragments and CUB's primitives must give."""

from __future__ import annotations

import numpy as np

from .expected import Array, Expected

MOST = np.maximum.accumulate


def bfloat16(x: Array) -> Array:
    """Rounded to the nearest of 8 bits, ties to even."""
    bits = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32).astype(float)


def tf32(x: Array) -> Array:
    """What a tensor core reads of a float: 10 bits of its mantissa."""
    return (x.astype(np.float32).view(np.uint32) & 0xFFFFE000).view(np.float32).astype(float)


def half(x: Array) -> Array:
    """Rounded to half."""
    return x.astype(np.float16).astype(float)


def relu_product(a: Array, b: Array) -> Array:
    """relu(2 A B)."""
    return np.maximum(2 * (a @ b), 0)


def whole(x: Array, n: int) -> Array:
    """The kernels' integers: hundredths, towards zero."""
    return np.trunc((x[:n].astype(np.float32) * np.float32(100)).astype(float))


def scans(x: Array) -> Array:
    """All of cub_scan_kernel's outputs."""
    v = whole(x, 128)
    pairs = np.stack([v, np.ones(128)], 1).reshape(-1)
    before = np.concatenate([[-50], np.maximum(MOST(v)[:-1], -50)])
    return np.concatenate([
        v.cumsum(), v.cumsum() - v, np.full(128, v.sum()), pairs.cumsum() - pairs, before,
    ])  # fmt: skip


def warps(x: Array) -> Array:
    """All of cub_warp_kernel's outputs."""
    v = whole(x, 64).reshape(2, 32)
    inclusive = v.cumsum(1)
    parts = [v.sum(1), v.max(1), v.reshape(8, 8).sum(1), inclusive, inclusive - v]
    return np.concatenate([part.reshape(-1) for part in parts])


def reductions(x: Array) -> Array:
    """All of cub_reduce_kernel's outputs."""
    v = whole(x, 128)
    return np.array([v.sum(), v.max(), v[:50].sum(), v.sum() + sum(range(128))])


def block(x: Array) -> Array:
    """1 + A B, kept in half between its two steps."""
    a, b = half(x[:1024]).reshape(32, 32), half(x[1024:2048]).reshape(32, 32)
    return half(half(1 + a[:, :16] @ b[:16]) + a[:, 16:] @ b[16:])


LIBRARIES = {
    "wmma_half": Expected(
        lambda x: relu_product(half(x[:256]).reshape(16, 16), half(x[256:]).reshape(16, 16)), 512, 1e-5
    ),
    "wmma_half_wide": Expected(
        lambda x: relu_product(half(x[:128]).reshape(8, 16), half(x[128:]).reshape(32, 16).T), 640, 1e-5
    ),
    "wmma_bfloat16": Expected(
        lambda x: relu_product(bfloat16(x[:256]).reshape(16, 16), bfloat16(x[256:]).reshape(16, 16).T),
        512,
        1e-5,
    ),
    "wmma_tf32": Expected(
        lambda x: relu_product(tf32(x[:128]).reshape(16, 8), tf32(x[128:]).reshape(8, 16)), 256, 1e-5
    ),
    "wmma_block": Expected(block, 2048, 2e-3),
    "cub_reduce": Expected(reductions, 128),
    "cub_scan": Expected(scans, 128),
    "cub_warp": Expected(warps, 64),
}
