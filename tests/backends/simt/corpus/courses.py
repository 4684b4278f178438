"""What the kernels of courses.cu and courses_more.cu must give."""

from __future__ import annotations

import numpy as np

from .expected import Array, Expected, norm, product, softmax

I = np.arange(64)  # noqa: E741 - a thread's index


def spread(v: Array) -> Array:
    """A zero bit before each of the three lowest bits."""
    bits = v.astype(np.int64)
    return sum((bits >> k & 1) << 2 * k for k in range(3))  # type: ignore[return-value]


def bit_tricks(x: Array) -> Array:
    """Population counts, leading zeros, Morton and Gray codes, a vote, sums of bytes."""
    u = [int(v) for v in x.astype(np.float32).view(np.uint32)]
    counts = [bin(v).count("1") * 1000 + 32 - (v | 1).bit_length() + 32 * ((v & -v).bit_length()) for v in u]
    votes = [int((x[:32] > 0).sum()), int((x[32:64] > 0).sum())]
    parts = [counts, np.ones(64), spread(I & 7) | spread(I >> 3) << 1, I ^ I >> 1, votes, 10 * (I & 1) + I]
    return np.concatenate([np.asarray(part, dtype=float) for part in parts])


def laplacian(x: Array) -> Array:
    """Of 16 planes of 10 rows of 12, zeros outside."""
    p = np.pad(x[:1920].reshape(16, 10, 12), 1)
    around = sum(np.roll(p, step, axis) for axis in range(3) for step in (1, -1))
    return (around - 6 * p)[1:-1, 1:-1, 1:-1]  # type: ignore[no-any-return]


def forces(x: Array) -> Array:
    """On each of 125 particles, each a place and a mass."""
    b = x[:500].reshape(-1, 4)
    r = b[None, :, :3] - b[:, None, :3]
    d = (r * r).sum(2) + 0.01
    return (r * (b[None, :, 3] / d**1.5)[:, :, None]).sum(1)  # type: ignore[no-any-return]


def mandelbrot(_: Array) -> Array:
    """Steps until it leaves, of 40 by 40 points, in float as the kernel does."""
    f = np.float32
    at = np.arange(40, dtype=f)
    cx, cy = np.meshgrid(f(-2) + f(2.5) * at / f(40), f(-1) + f(2) * at / f(40))
    zx, zy, steps = np.zeros_like(cx), np.zeros_like(cx), np.zeros(cx.shape)
    inside = np.ones(cx.shape, dtype=bool)
    for _k in range(30):
        inside = inside & (zx * zx + zy * zy < 4)
        steps += inside
        zx, zy = (
            np.where(inside, zx * zx - zy * zy + cx, zx),
            np.where(inside, f(2) * zx * zy + cy, zy),
        )
    return steps


def monte_carlo(_: Array) -> Array:
    """128 generators, 400 points each."""
    s = ((np.arange(128, dtype=np.uint64) + 1) * 2654435761 + 1).astype(np.uint32)
    inside = 0

    def draw() -> Array:
        nonlocal s
        s = s ^ s << np.uint32(13)
        s = s ^ s >> np.uint32(17)
        s = s ^ s << np.uint32(5)
        return (s >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)  # type: ignore[return-value]

    for _k in range(400):
        a, b = draw(), draw()
        inside += int((a * a + b * b < 1).sum())
    return np.array([4.0 * inside / (128 * 400)])


CLOSE = 1e-5
N = 2000
COURSES: dict[str, Expected] = {
    "sgemm_registers_2d": Expected(lambda x: product(x, 64, 64, 64), 8192, 1e-4),
    "sgemm_vectorised": Expected(lambda x: product(x, 64, 64, 64), 8192, 1e-4),
    "sgemm_warp_tiles": Expected(lambda x: product(x, 64, 64, 64), 8192, 1e-4),
    "reduce_by_switch": Expected(lambda x: [x.sum()] * 3, N, 1e-4),
    "softmax_online_block": Expected(softmax, N, CLOSE),
    "layer_norm_welford": Expected(lambda x: norm(x, True), N, 1e-4),
    "sort_radix": Expected(lambda x: np.sort(x[:256].astype(np.float32).view(np.uint32) >> 15 & 255), N),
    "histogram_matched": Expected(
        lambda x: np.bincount(np.clip(np.floor(x * 2) + 8, 0, 15).astype(int), minlength=16), N
    ),
    "small_matrices": Expected(lambda x: np.matmul(*[x.reshape(-1, 4, 4)] * 2), N, CLOSE),
    "bit_tricks": Expected(bit_tricks),
    "functor_chain": Expected(lambda x: np.maximum(2 * x + 1, 0), N, 1e-6),
    "device_lambda": Expected(lambda x: np.where(x < 0, x / 4, x), N),
    "folded_polynomial": Expected(lambda x: 1 + x / 2 + x**2 / 4 + x**3 / 8, N, CLOSE),
    "laplacian_3d": Expected(laplacian, N, CLOSE),
    "particles": Expected(forces, N, 1e-3),
    "mandelbrot_set": Expected(mandelbrot),
    "monte_carlo_pi": Expected(monte_carlo, 64, 1e-6),
}
