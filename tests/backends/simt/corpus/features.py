"""What each feature program must give."""

from __future__ import annotations

import math

import numpy as np

from .expected import LANE, WARP, Array, Expected, T

F = np.float32


def f32(x: Array) -> Array:
    """As the device holds it."""
    return x.astype(F).astype(float)


def shuffles(x: Array) -> Array:
    """Five outputs for each of 64 threads."""
    lane8 = WARP + LANE // 8 * 8 + (LANE + 3) % 8
    up16 = np.where(LANE % 16 >= 3, T - 3, T)
    down4 = np.where(LANE % 4 + 1 < 4, T + 1, T)
    return np.concatenate([
        x[WARP + 5] + x[lane8] + x[WARP + 31],
        x[np.where(LANE >= 2, T - 2, T)] + x[up16],
        x[np.where(LANE + 7 < 32, T + 7, T)] + x[down4],
        x[WARP + (LANE ^ 9)] + x[WARP + (LANE ^ 3)],
        31 - LANE + x[T ^ 1],
    ])  # fmt: skip


def votes(x: Array) -> Array:
    """Ballots and matches in two warps."""
    v = np.trunc(f32(x.astype(F) * F(3))).astype(int)
    out = []
    for w in (v[:32], v[32:]):
        same = np.array([(w == k).sum() for k in w])
        equal = (w == w[0]).all()
        out.append([
            np.full(32, (w > 0).sum()), np.full(32, 2 * (w > 1).any() + (w > -100).all()), same + 1,
            np.full(32, 132), np.full(32, 132 if equal else 0),
            np.where(np.arange(32) < 20, 10, len([k for k in range(20, 32) if k % 3 == 0])),
        ])  # fmt: skip
    return np.concatenate([np.concatenate(pair) for pair in zip(*out, strict=True)])


def warp_reduces(x: Array) -> Array:
    """__reduce_*_sync in two warps."""
    v = np.trunc(f32(x.astype(F) * F(100))).astype(np.int64)
    out: list[list[Array]] = [[] for _ in range(5)]
    for begin in (0, 32):
        w = v[begin : begin + 32]
        u = w & 0xFFFFFFFF
        out[0].append(np.full(32, float(w.sum())))
        out[1].append(np.full(32, float(w.min() + w.max())))
        conjunction, disjunction = np.bitwise_and.reduce(u | 7), np.bitwise_or.reduce(u & 255)
        out[2].append(np.full(32, float(conjunction % 1000 + disjunction)))
        out[3].append(np.full(32, float((np.bitwise_xor.reduce(u) & 0xFFFF) + (u & 1023).max())))
        first = sum(range(begin, begin + 8)) + 32.0
        out[4].append(np.where(np.arange(32) < 8, first, 24.0))
    return np.concatenate([np.concatenate(part) for part in out])


def syncwarp(x: Array) -> Array:
    """Rotated within the warp, then half of it adds its mirror image."""
    v = x[WARP + (LANE + 1) % 32]
    return np.where(LANE < 16, v + v[WARP + 15 - LANE % 16], v)


def divergent(x: Array) -> Array:
    """Loops of different length, then a shuffle in each four lanes."""
    v = x.copy()
    for k in range(3):
        v = np.where(k < LANE % 4, f32(v * 0.5 + k), v)
    return np.where(LANE // 4 % 2 == 1, v + v[T ^ 1], v - v[T ^ 2])


def shared_memory(x: Array) -> Array:
    """Static, padded, and carved from dynamic memory."""
    return 2 * x[63 - T] + 63 - T + x[T // 2] + T // 2 + x[T % 4 * 16 + T // 4]


def grid3d(x: Array) -> Array:
    """Blocks (2, 3, 2) of (4, 2, 3) threads."""
    z, y, b = np.meshgrid(np.arange(6), np.arange(6), np.arange(8), indexing="ij")
    return x.reshape(6, 6, 8) + 1000 * z + 100 * y + b


def function_pointers(x: Array) -> Array:
    """Minus and a half take turns."""
    return np.where(T % 2 == 0, -x, x / 2) + np.array([math.gcd(6 * t, 27) for t in range(64)])


def atomics(x: Array) -> Array:
    """Integers, as the bits of floats."""
    v = np.trunc(f32(x.astype(F) * F(100))).astype(np.int64)
    low = v & 0xFFFF
    mask = np.bitwise_and.reduce([0xFFFFFFFF & ~(1 << (t % 16)) for t in range(64)])
    out = [
        v.sum(), -v.sum(), min(v.min(), 0), max(v.max(), 0), 0 & mask, (1 << 20) - 1,
        np.bitwise_xor.reduce(v), 64 % 7, 0, 0, low.max(), 1, 1, 64, 128, 7, 31, 63,
    ]  # fmt: skip
    dec = 0
    for _ in range(64):
        dec = 9 if dec == 0 or dec > 9 else dec - 1
    out[8] = dec
    bits = np.array([int(k) & 0xFFFFFFFF for k in out], dtype=np.uint32).view(F).astype(float)
    bits[11] = np.nan  # whose compare-and-swap came first is not specified
    return bits


def constants(x: Array) -> Array:
    """Tables in constant memory; the last values are what the host read back."""
    y = x * (T % 4 + 1) + np.array([1.5, 2.5, 3.5])[T % 3] + 7.25
    back = y[:4].copy()
    back[3] += 4
    return np.concatenate([y, back, 2 * y[:4]])


def cache_hints(x: Array) -> Array:
    """A float4 plus a float2 and the sum of the four, streamed out."""
    quad = x.reshape(-1, 4)
    return np.stack([2 * quad[:, 0], 2 * quad[:, 1], quad[:, 2] + quad.sum(1), quad[:, 3]], 1)


def vectors(x: Array) -> Array:
    """Sizes and alignments, then some arithmetic."""
    sizes = [202, 301, 404, 404, 602, 808, 404, 808, 1204, 1616, 808, 1204, 1616, 404, 808, 1204, 1616]
    sizes += [808, 1616, 2408, 1616, 1616, 1204, 404, 404]
    return np.array([*sizes, *([np.nan] * 3), x[0] + 1, x[1], x[2], x[3] * 4, 7 + 4 + 4 + 5 + 0.75 + 4])


def block_group(x: Array) -> Array:
    """96 threads in rows of 32."""
    r = np.arange(96)
    return x[95 - r] + 96 + r // 32 + 32


def tiles(x: Array) -> Array:
    """Tiles of 32, 8 and 4 lanes."""
    i = np.trunc(x).astype(int)
    w, e, q = x.reshape(2, 32), x.reshape(8, 8), x.reshape(16, 4)
    match = [sum(1 << k for k in range(8) if i[t // 8 * 8 + k] == i[t]) for t in range(64)]
    ballot = np.repeat((q > 0) @ np.array([1, 2, 4, 8]), 4)
    bits = np.repeat([np.bitwise_or.reduce(r) for r in T.reshape(16, 4)], 4)
    up = np.where(T % 4 >= 1, x[np.maximum(T - 1, 0)], x)
    return np.concatenate([
        np.repeat(w.sum(1), 32) + LANE + 100 * (T // 32) + 2,
        np.repeat(e.sum(1), 8) + T % 8 + 10 * (T // 8 % 4) + 8,
        x[T ^ 1] + up + np.repeat((q > 1).any(1), 4) + 2 * np.repeat((q > -1).all(1), 4),
        ballot + np.array(match),
        np.repeat(e.max(1), 8) + np.repeat(w.min(1), 32),
        np.repeat(T.reshape(2, 32).sum(1), 32) + bits,
        np.cumsum(T.reshape(8, 8), 1).reshape(-1) + 1000 * (np.cumsum(T.reshape(2, 32), 1).reshape(-1) - T),
    ])  # fmt: skip


def coalesced(x: Array) -> Array:
    """The positive ones of the first 60, warp by warp."""
    yes = (x > 0) & (T < 60)
    out = np.zeros((4, 64))
    out[0] = yes.sum()
    for warp in (slice(0, 32), slice(32, 64)):
        size = yes[warp].sum()
        rank = np.cumsum(yes[warp]) - 1
        any_large = (x[warp] > 1)[yes[warp]].any()
        out[1][warp] = np.where(yes[warp], size + rank + 1 + any_large, 0)
        out[2][warp] = np.where(yes[warp], size, 0)
    out[3] = yes
    return out


def partitions(x: Array) -> Array:
    """By label and by side."""
    size, rank, sides = np.zeros(64), np.zeros(64), np.zeros(64)
    for begin in (0, 32):
        for t in range(begin, begin + 32):
            same = [k for k in range(begin, begin + 32) if k % 3 == t % 3]
            size[t], rank[t] = len(same), same.index(t)
            side = [k for k in range(begin, begin + 32) if (x[k] > 0) == (x[t] > 0)]
            sides[t] = len(side) + sum(side)
    return np.concatenate([size + 10 * rank, sides])


def grid_sync(x: Array) -> Array:
    """Every block reads every block's sum, then its neighbour's doubled."""
    sums = x.reshape(-1, 64).sum(1)
    blocks = len(sums)
    y = x + sums.sum() + 2 * np.repeat(np.roll(sums, -1), 64) + 2
    return np.append(y, blocks * 64 + blocks)


def wide_atomics(x: Array) -> Array:
    """Bits of 64-bit integers and of one double, as floats."""
    v = (x.astype(F) * x.astype(F) * F(1000)).astype(np.uint64)
    eighths = float(np.trunc(x.astype(F) * F(8)).sum())
    signed = np.trunc(x.astype(F) * F(1000)).astype(np.int64)
    out = np.array([
        v.sum(), (v << np.uint64(20)).max(), 0, np.bitwise_xor.reduce(v << np.uint64(30)), 2**64 - 1, 77, 5,
        np.array([min(signed.min(), 0)]).view(np.uint64)[0], np.array([eighths]).view(np.uint64)[0], 0,
    ], dtype=np.uint64)  # fmt: skip
    return out.view(F).astype(float)


def float_atomics(x: Array) -> Array:
    """Sums of whole numbers, halves and pairs of them."""
    total = np.trunc(x.astype(F) * F(8)).sum()
    half = np.array([64, 0, 64, 128], dtype=np.float16).view(np.uint32)
    bfloat = [np.array([v], dtype=F).view(np.uint32)[0] >> 16 for v in (128, 64, 32)]
    words = np.array([half[0], half[1], bfloat[0], bfloat[1] | bfloat[2] << 16, 9], dtype=np.uint32)
    return np.array([total, -128, 3.5, *words.view(F).astype(float)])


def rounded(x: Array) -> Array:
    """Directed roundings against exact arithmetic on fractions."""
    from fractions import Fraction

    def to(exact: Fraction, how: str) -> float:
        near = F(float(exact))
        low = near if Fraction(float(near)) <= exact else np.nextafter(near, F(-np.inf))
        high = near if Fraction(float(near)) >= exact else np.nextafter(near, F(np.inf))
        match how:
            case "rd":
                return float(low)
            case "ru":
                return float(high)
            case "rz":
                return float(low if exact > 0 else high)
        return float(near)

    out = []
    for v32 in x.astype(F):
        a = Fraction(float(F(abs(v32)) + F(0.1)))
        v, eleven, tenth = Fraction(float(v32)), Fraction(float(F(1.1))), Fraction(float(F(0.1)))
        tiny, third = Fraction(float(F(1e-5))), Fraction(3)
        out.append([
            to(v + a, "rn"), to(v * eleven, "rn"), to(v - Fraction(float(F(0.3))), "rn"), to(v / third, "rn"),
            to(v * a + tenth, "rn"), float(np.sqrt(F(float(a)))), to(1 / a, "rn"), to(v + tiny, "rd"),
            to(v + tiny, "ru"), to(v + tiny, "rz"), to(v * eleven, "ru"), to(v * eleven, "rz"),
            to(v / third, "rz"),
            to(v * a + tenth, "rz"), float(min(max(v, 0), 1)),
        ])  # fmt: skip
    return np.array(out).T


HOST_MEMORY = [
    0,
    0,
    0,
    11,
    12,
    13,
    14,
    15,
    16,
    17,
    18,
    0,
    0,
    15,
    0,
    0,
    0,
    0,
    5,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    3,
    0,
    0,
    0,
    0,
]


FEATURES: dict[str, Expected] = {
    "grid3d": Expected(grid3d, 288, 1e-6),
    "templates": Expected(lambda x: np.concatenate([x**3, -(x**2)]), 100, 1e-6),
    "packs": Expected(lambda x: x + 1 + 2.5 + 3 + 97, 64, 1e-6),
    "functors": Expected(lambda x: 0.5 * (0.5 * x + 4) + 4, 100, 1e-6),
    "function_pointers": Expected(function_pointers, 64, 1e-6),
    "aligned_to_8": Expected(
        lambda x: np.concatenate([[x[0], x[0] + 1], x.reshape(32, 4)[::-1].ravel()]), 128
    ),
    "launch_bounds": Expected(lambda x: x * (np.arange(len(x)) % 8), 128, 1e-6),
    "structs_by_value": Expected(lambda x: x.reshape(4, -1).T),
    "launched_through_a_pointer": Expected(lambda x: x**2, 100, 1e-6),
    "shared_memory": Expected(shared_memory, 64, 1e-6),
    "dynamic_shared": Expected(lambda x: np.concatenate([x[::-1], x[::-1]])),
    "shared_in_a_device_function": Expected(
        lambda x: np.where(np.arange(len(x)) % 2 == 1, x.sum(), (x * x).sum()), 128, 1e-5
    ),
    "large_shared": Expected(lambda x: x[::-1], 1000),
    "barrier_votes": Expected(
        lambda x: np.repeat([(x > 0).sum(), 1, 0, (x > 0).all() + 10 * (x > 0).any()], 64)
    ),
    "shuffles": Expected(shuffles, 64, 1e-6),
    "votes": Expected(votes),
    "warp_reduces": Expected(warp_reduces),
    "syncwarp": Expected(syncwarp, 64, 1e-6),
    "divergent_shuffles": Expected(divergent, 64, 1e-6),
    "atomics": Expected(atomics),
    "wide_atomics": Expected(wide_atomics),
    "float_atomics": Expected(float_atomics),
    "compare_and_swap": Expected(lambda x: x.reshape(4, -1).max(1)),
    "fences": Expected(lambda x: [x.sum()], 512, 1e-5),
    "cache_hints": Expected(cache_hints, 64, 1e-5),
    "vectors": Expected(vectors, 64, 1e-6),
    "constants": Expected(constants, 64, 1e-6),
    "casts": Expected(
        lambda x: (x.astype(F).view(np.uint32) & 0xFFFFFF00 ^ 0x80000000).astype(np.uint32).view(F)
    ),
    "rounded": Expected(rounded),
    "prints_and_asserts": Expected(lambda x: x),
    "clocks": Expected(lambda x: 2 + (x[:64] * 0 + 1)),
    "block_group": Expected(block_group, 96, 1e-6),
    "tiles": Expected(tiles, 64, 1e-5),
    "coalesced": Expected(coalesced),
    "partitions": Expected(partitions),
    "grid_sync": Expected(grid_sync, 512, 1e-5),
    "memory_calls": Expected(lambda x: HOST_MEMORY),
    "launched_by_name": Expected(lambda x: x + 2.5, 100, 1e-6),
    "default_arguments": Expected(lambda x: x + 1, 100, 1e-6),
}
