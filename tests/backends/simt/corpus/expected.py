"""What the honest kernels and the features must give, computed directly from the input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Model = Callable[[Array], object]
WARP = np.arange(64) // 32 * 32
LANE = np.arange(64) % 32
T = np.arange(64)


@dataclass(frozen=True)
class Expected:
    """The model of a case, for an input of ``n`` numbers; ``tolerance`` relative and absolute (0: equal)."""

    model: Model
    n: int = 64
    tolerance: float = 0.0


def values(name: str, n: int) -> npt.NDArray[np.float32]:
    """The input of a case: normal numbers from a seed of its own."""
    return np.random.default_rng(sum(name.encode())).standard_normal(n).astype(np.float32)


def rows(x: Array) -> Array:
    """As 50 columns."""
    return x[: len(x) // 50 * 50].reshape(-1, 50)


def softmax(x: Array) -> Array:
    """Of each row."""
    e = np.exp(rows(x) - rows(x).max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def bins(x: Array) -> Array:
    """Counts of 16 bins between -4 and 4, computed in float as the kernel does."""
    at = ((x.astype(np.float32) + np.float32(4)) / np.float32(8) * np.float32(16)).astype(int)
    return np.bincount(np.clip(at, 0, 15), minlength=16).astype(float)


def block_sums(x: Array, block: int) -> Array:
    """Sums of consecutive pieces."""
    return np.array([x[i : i + block].sum() for i in range(0, len(x), block)])


def product(x: Array, m: int, k: int, n: int) -> Array:
    """A at the front of x, B behind it."""
    return x[: m * k].reshape(m, k) @ x[m * k : m * k + k * n].reshape(k, n)


def stencil(x: Array) -> Array:
    """Sum of seven neighbours, zeros outside."""
    return np.convolve(x, np.ones(7), "same")


def convolution(x: Array) -> Array:
    """Sobel's filter, zeros outside."""
    p, w = np.pad(rows(x), 1), np.array([[1, 2, 1], [0, 0, 0], [-1, -2, -1]])
    shape = rows(x).shape
    return sum(w[j, i] * p[j : j + shape[0], i : i + shape[1]] for j in range(3) for i in range(3))  # type: ignore[return-value]


def attention(x: Array) -> Array:
    """32 queries, keys and values of dimension 16."""
    q, k, v = (x[i * 512 : i * 512 + 512].reshape(32, 16) for i in range(3))
    e = np.exp(q @ k.T / 4)
    return e / e.sum(1, keepdims=True) @ v


def jacobi(x: Array) -> Array:
    """Six sweeps."""
    a = x[:200].copy()
    for _ in range(6):
        a[1:-1] = (a[:-2] + a[2:]) / 2
    return a


def unrolled(x: Array) -> Array:
    """Four blocks of 256 threads stride over the input."""
    return np.array(
        [sum(x[b * 256 + k : b * 256 + k + 256].sum() for k in range(0, len(x), 1024)) for b in range(4)]
    )


def gelu(x: Array) -> Array:
    """With the error function."""
    from math import erf

    return np.array([0.5 * v * (1 + erf(v * 0.70710678)) for v in x])


def norm(x: Array, mean: bool) -> Array:
    """Of each row."""
    r = rows(x)
    m = r.mean(1, keepdims=True) if mean else 0.0
    return (r - m) / np.sqrt((r * r).mean(1, keepdims=True) - m * m + 1e-5)  # type: ignore[no-any-return]


CLOSE = 1e-5
N = 2000
HONEST: dict[str, Expected] = {
    "reduce_interleaved": Expected(lambda x: block_sums(x, 256), N, CLOSE),
    "reduce_strided": Expected(lambda x: block_sums(x, 256), N, CLOSE),
    "reduce_sequential": Expected(lambda x: block_sums(x, 512), N, CLOSE),
    "reduce_unrolled": Expected(unrolled, N, CLOSE),
    "reduce_shuffle_atomic": Expected(lambda x: [x.sum()], N, 1e-4),
    "reduce_float4": Expected(lambda x: [x.sum()], N, 1e-4),
    "reduce_groups": Expected(lambda x: [x.sum()], N, 1e-4),
    "reduce_last_block": Expected(lambda x: [x.sum()], N, 1e-4),
    "argmax": Expected(lambda x: [x.max(), x.argmax()], N),
    "rows_by_warps": Expected(lambda x: rows(x).sum(1), N, CLOSE),
    "columns": Expected(lambda x: rows(x).sum(0), N, CLOSE),
    "mean_and_variance": Expected(lambda x: [x.mean(), x.var()], N, CLOSE),
    "scan_hillis_steele": Expected(lambda x: np.cumsum(x[:128]), N, CLOSE),
    "scan_blelloch": Expected(lambda x: np.cumsum(x[:256]) - x[:256], N, CLOSE),
    "scan_shuffles": Expected(lambda x: np.cumsum(x[:1000]), N, 1e-4),
    "scan_chained": Expected(np.cumsum, N, 1e-4),
    "histogram_shared": Expected(bins, N),
    "histogram_private": Expected(bins, N),
    "compaction": Expected(lambda x: [(x > 0).sum()], N),
    "sort_bitonic": Expected(lambda x: np.sort(x[:256]), N),
    "sort_odd_even": Expected(lambda x: np.sort(x[:64]), N),
    "grid_stride": Expected(lambda x: 2 * x + 1, N, 1e-6),
    "gelu_float4": Expected(gelu, N, CLOSE),
    "relu_with_tail": Expected(lambda x: np.maximum(x[:-1], 0), N),
    "half_round_trip": Expected(lambda x: x[:512].astype(np.float16) / 2, N),
    "bias_and_relu": Expected(lambda x: np.maximum(rows(x) + x[:50], 0), N, 1e-6),
    "transpose_naive": Expected(lambda x: rows(x).T, N),
    "transpose_conflicts": Expected(lambda x: rows(x).T, N),
    "transpose_padded": Expected(lambda x: rows(x).T, N),
    "transpose_swizzled": Expected(lambda x: x[:1024].reshape(32, 32).T, N),
    "stencil_halo": Expected(stencil, N, CLOSE),
    "convolution_2d": Expected(convolution, N, CLOSE),
    "matmul_naive": Expected(lambda x: product(x, 32, 24, 32), N, CLOSE),
    "matmul_tiled": Expected(lambda x: product(x, 32, 24, 32), N, CLOSE),
    "matmul_double_buffered": Expected(lambda x: product(x, 32, 32, 32), 2048, CLOSE),
    "matmul_registers": Expected(lambda x: product(x, 48, 48, 48), 4608, CLOSE),
    "matmul_split_k": Expected(lambda x: product(x, 32, 24, 32), N, CLOSE),
    "matrix_vector": Expected(lambda x: rows(x) @ x[:50], N, CLOSE),
    "softmax_naive": Expected(softmax, N, CLOSE),
    "softmax_shared": Expected(softmax, N, CLOSE),
    "softmax_one_pass": Expected(softmax, N, CLOSE),
    "layer_norm": Expected(lambda x: norm(x, True), N, 1e-4),
    "rms_norm": Expected(lambda x: norm(x, False), N, CLOSE),
    "flash_attention": Expected(attention, 1536, CLOSE),
    "warp_specialised": Expected(lambda x: x[:1920] ** 2, N, 1e-6),
    "producer_and_consumer": Expected(lambda x: 3 * x[:32], N, 1e-6),
    "spin_lock": Expected(lambda x: [16.0], N),
    "blocks_meet": Expected(lambda x: np.roll(2 * x[:128].reshape(4, 32), -1, 0), N),
    "jacobi_cooperative": Expected(jacobi, N, CLOSE),
    "chain_of_launches": Expected(lambda x: x + 4, N, 1e-6),
}
