"""What the programs about numbers must give: bits, functions, 16-bit formats, and the runtime's answers."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from .expected import Array, Expected

F = np.float32
H = np.float16
T = np.arange(64)
MASK = (1 << 32) - 1
ANY = math.nan  # what is not specified, or differs between machines
Rows = list[object]


def f(x: object) -> npt.NDArray[np.float32]:
    """As float."""
    return np.asarray(x).astype(F)


def table(rows: Rows) -> Array:
    """One row after another, each of 64 values."""
    return np.concatenate([np.broadcast_to(np.asarray(row, dtype=float), 64) for row in rows])


def bits(x: Array) -> Array:
    """Integer intrinsics, with Python's unbounded integers."""
    out = []
    for value in f(x):
        v = int(F(value) * F(100000))
        u, w = v & MASK, (v << 20) & ((1 << 64) - 1)
        raw = int(F(value).view(np.int32))
        b = [(u >> 8 * i & 255) - (256 if u >> 8 * i & 128 else 0) for i in range(4)]
        out.append([
            u.bit_count() + w.bit_count(),
            32 - u.bit_length() + 64 - w.bit_length(),
            (u & -u).bit_length() + (w & -w).bit_length(),
            int(f"{u:032b}"[::-1], 2) >> 8,
            int(f"{u:064b}"[::-1], 2) >> 40,
            u & 0xFFFF | 0x780000,
            (0xABCDEF << 5 | u >> 27) & 0xFFFFFF,
            (0xABCDEF << 32 | u) >> 9 & 0xFFFFFF,
            v * 3 + 30 & MASK,  # int and unsigned make unsigned
            ((v << 20 >> 32) + (u * 77 >> 32)) & MASK,
            ((v << 20 << 40 >> 64) + 5) & ((1 << 64) - 1),
            (abs(v - 100) + 5) % 1000,
            (v + 7 >> 1) + (v + 8 + 1 >> 1),
            b[0] * 4 + b[1] * 3 + b[2] * 2 + b[3] + 10,
            raw >> 9,
            float(np.int32(raw ^ 1).view(F)),
            float(value),
            float(value),
            int(np.float64(1.0 + float(value)).view(np.int64)) >> 32 >> 8,
            3.5,
        ])  # fmt: skip
    return np.array(out, dtype=float).T


def conversions(x: Array) -> Array:
    """To whole numbers in every direction."""
    v = f(x) * F(10)
    d = v.astype(float)
    rn, rz, down, up = np.rint(d), np.trunc(d), np.floor(d), np.ceil(d)
    away = np.copysign(np.floor(np.abs(d) + 0.5), d)
    return table([
        rn + 1000 * down, up + 1000 * rz, np.rint(np.abs(d)) + np.trunc(np.abs(d)), T + 21,
        f(0.1 * d) + f(rn) + f(rz), rn + 3, rz + np.trunc(np.abs(d)) + np.trunc(v * F(2)),
        rn + away + rn + rz, rn + away + rz + down + up + rn,
    ])  # fmt: skip


def bessel_j(order: int, x: Array) -> Array:
    """By Bessel's integral, whose trapezoidal sum converges at once."""
    t = (np.arange(4000) + 0.5) / 4000 * math.pi
    return np.asarray(np.cos(order * t - x[:, None] * np.sin(t)).mean(1))


def bessel_y0(x: Array) -> Array:
    """y0(x) = 4/pi^2 times the integral over a quarter turn of cos(x cos t) (gamma + log(2 x sin^2 t))."""
    nodes, weights = np.polynomial.legendre.leggauss(400)
    t, w = (nodes + 1) * math.pi / 4, weights * math.pi / 4
    inside = np.cos(x[:, None] * np.cos(t)) * (np.euler_gamma + np.log(2 * x[:, None] * np.sin(t) ** 2))
    return np.asarray(4 / math.pi**2 * (inside * w).sum(1))


def functions(x: Array) -> Array:
    """CUDA's mathematical functions, in double."""
    single = f(x)
    v, a = single.astype(float), (np.abs(single) + F(0.1)).astype(float)
    tenth = v / 10
    erf, erfc, gamma, lgamma = (np.vectorize(g) for g in (math.erf, math.erfc, math.gamma, math.lgamma))
    normal = NormalDist()
    inverse_erf = np.array([normal.inv_cdf((y + 1) / 2) / math.sqrt(2) for y in tenth])
    seven = float(F(0.7))
    mantissa, exponent = np.frexp(a)
    s, c = np.sin(math.pi * v), np.cos(math.pi * v)
    norm3, norm4 = np.sqrt(v * v + a * a + 1), np.sqrt(v * v + a * a + 5)
    return table([
        np.exp(v) + np.exp2(v) + 10 ** (v * 0.1) + np.expm1(v),
        np.log(a) + np.log2(a) + np.log10(a) + np.log1p(a),
        np.sin(v) + np.cos(v) + np.tan(v * 0.3),
        np.arcsin(tenth) + np.arccos(tenth) + np.arctan(v) + np.arctan2(v, a),
        np.sinh(v) + np.cosh(v) + np.tanh(v) + np.arcsinh(v) + np.arccosh(a + 1) + np.arctanh(tenth),
        np.sqrt(a) + a**-0.5 + np.cbrt(v) + 1 / np.cbrt(a) + np.hypot(v, a) + 1 / np.hypot(v, a),
        a**1.5 + np.fmod(v, seven) + (v - seven * np.rint(v / seven)) + np.maximum(v - 0.5, 0),
        erf(v) + erfc(v) + inverse_erf + erfc(-v / math.sqrt(2)) / 2 + np.exp(a * a) * erfc(a),
        gamma(a) + lgamma(a) + bessel_j(0, a) + bessel_j(1, a) + bessel_y0(a),
        np.maximum(v, 0.2) + np.minimum(v, -0.2) + v * a + 1 + np.copysign(a, v) + a,
        np.sin(v) + 2 * np.cos(v) + s + c,
        s + c + 12 * v + mantissa + exponent + 2 * np.floor(np.log2(a)),
        7 + 8 * (v < 0),
        v + a + np.maximum(T, 3) + 3 + 3 + np.minimum(T, 5) + 3,
        norm3 + 1 / norm3 + norm4,
        2 * np.exp(v) + np.log(a) + 2 * np.sqrt(a) + a * a + np.sin(v) + np.floor(v) + np.abs(v),
        np.exp(v) + np.sin(v) + a**0.3 + erf(v) + a**-0.5 + np.fmod(v, 0.3),
        16 + math.pi + normal.inv_cdf(float(F(0.3))),
    ])  # fmt: skip


def fast_math(x: Array) -> Array:
    """The fast functions, exactly; division by more than 2^126 gives 0, as documented."""
    single = f(x)
    v, a = single.astype(float), (np.abs(single) + F(0.1)).astype(float)
    return table([
        np.exp(v), np.log(a), np.sin(v), np.cos(v), np.tan(v * 0.3), a**1.7, v / a, np.log2(a),
        np.log10(a), 10**v, np.sin(v) + 2 * np.cos(v), a**-0.5, a**-0.5, v / a, 0,
    ])  # fmt: skip


def control_flow(x: Array) -> Array:
    """Sorting, a switch that falls through, a hash that wraps around."""
    single, out = f(x), []
    for t in range(64):
        v = np.sort(single[(t + np.arange(8)) % 64])[t % 8]
        match t % 4:
            case 0:
                v = v + F(1)
            case 1:
                v = v * F(2) - F(3)
            case 2:
                v = v - F(3)
            case _:
                while v < 4:
                    v = v + F(1.5)
        h = 2166136261
        for k in range(5):
            h = (h ^ (t + k)) * 16777619 & MASK
        out.append(float(v + F(h >> 16)))
    return np.array(out)


def total(*parts: object) -> npt.NDArray[np.float32]:
    """Added as floats, one after the other."""
    result = f(parts[0])
    for part in parts[1:]:
        result = result + f(part)
    return result


def around(x: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float16], npt.NDArray[np.float16]]:
    """The halves just below and just above (or at) each number."""
    nearest = x.astype(H)
    below = np.where(nearest.astype(F) > x, np.nextafter(nearest, H(-np.inf)), nearest)
    above = np.where(nearest.astype(F) < x, np.nextafter(nearest, H(np.inf)), nearest)
    return below, above


def halves(x: Array) -> Array:
    """numpy's float16 rounds each operation once, as a GPU does."""
    single = f(x)
    a, b, c = single.astype(H), H(1.25), H(0.1)
    below, above = around(single)
    fused = (a.astype(float) * 1.25 + float(c)).astype(H)
    last = ((a + c) * b - c) / b
    return table([
        a + b, a * c, total(a - c, a / b), fused, total(a + b, a * c, -a),
        (a > b) + 2.0 * (a < b) + 4 + 8 * (a >= c) + 16 * (a != b) + 32 * (a <= b),
        total(np.maximum(a, b), np.minimum(a, b), np.abs(a), -a), a.view(np.uint16),
        (a.view(np.uint16) ^ 1).view(H),
        total(np.rint((single * F(10)).astype(H)) + 1, T), np.clip(f(a) + f(c), 0, 1).astype(H), total(a, 7),
        total(np.where(single > 0, below, above), above, below),
        total(np.floor(a), np.ceil(a), np.rint(a), np.trunc(a)),
        total(last, last > b, 1, last[T ^ 1]), total(H(0.3), 3, c),
    ])  # fmt: skip


def half_pairs(x: Array) -> Array:
    """Pairs: the lower one is the thread's number, the higher one its neighbour's."""
    a = np.stack([f(x).astype(H), f(np.roll(x, -1)).astype(H)])
    b, low, high = np.full_like(a, 0.75), a[0], a[1]
    c = np.stack([low, b[1]])

    def both(pair: npt.NDArray[np.float16]) -> npt.NDArray[np.float32]:
        return f(pair[0]) + F(2) * f(pair[1])

    def pair(first: object, second: object) -> npt.NDArray[np.float32]:
        return both(np.stack([np.broadcast_to(np.asarray(p, dtype=H), 64) for p in (first, second)]))

    fused = (a.astype(float) * 0.75 + c.astype(float)).astype(H)
    stored = (low.view(np.uint16).astype(np.uint32) | high.view(np.uint16).astype(np.uint32) << 16).view(F)
    greater = (a > b).astype(H)
    return table([
        both(a + b), both(a * b), both(fused), total(both(a - b), both(a / b), both(-a), both(np.abs(a))),
        total(both(np.maximum(a, b)), both(np.minimum(a, b)), both(a + b), both(a * b)),
        total(both(greater), both(H(1) - greater), greater.all(0), 1),
        total(pair(high, low), pair(low, low), pair(high, high), pair(low, low)),
        total(pair(high, low), pair(low, 0.75), pair(high, 0.75), pair(low, 0.75)), stored, 1,
    ])  # fmt: skip


def bf(x: object) -> npt.NDArray[np.float32]:
    """Rounded once to the eight bits of a bfloat16."""
    mantissa, exponent = np.frexp(np.asarray(x, dtype=float))
    return f(np.ldexp(np.rint(mantissa * 256), exponent - 8))


def bfloats(x: Array) -> Array:
    """The same with bfloat16."""
    single = f(x)
    a, b, c = bf(single), F(1.25), bf(0.1)
    raw = a.view(np.uint32)
    cut = (single.view(np.uint32) & 0xFFFF0000).view(F)
    neighbour = np.where(T % 32 < 31, np.roll(a, -1), a)
    d = a.astype(float)
    return table([
        total(bf(a + b), bf(a * c)), bf(d * 1.25 + float(c)), total(bf(a + b), bf(a / b), np.maximum(a, b)),
        raw >> 16,
        total(bf(d + 0.75), bf(0.375), bf(d * 0.75 + 0.75)), (raw | 0x10000).view(F), total(a, 0.5, a, 0.75),
        2.0 + (a > b) + 4.0 * (a < c) + (a < b), total(bf(T), 1, cut), total(a, 2.5, neighbour),
    ])  # fmt: skip


def small_functions(x: Array) -> Array:
    """Functions of the 16-bit formats."""
    positive = np.abs(f(x)) + F(0.2)
    a, b = positive.astype(H).astype(float), bf(positive).astype(float)
    return table([
        np.exp(a) + np.log(a), np.sqrt(a) + a**-0.5 + 1 / a, np.sin(a) + np.cos(a),
        np.exp2(a) + np.log2(a) + np.log10(a), np.exp(b) + np.log(b), np.sqrt(b) + b**-0.5,
        np.exp(a) + np.sqrt(a) + np.exp(-a),
    ])  # fmt: skip


def streams_and_events(x: Array) -> Array:
    """Every call succeeds, and time does not run backwards; two kernels added 1 and 2."""
    answers = np.full(64, ANY)
    answers[:16] = 0
    answers[10] = 1
    return np.concatenate([answers, f(x) + F(1) + F(2)])


# Calls succeed (0) and give an H100's limits; the 17th is how many blocks of 256 threads and 4 KB fit. ANY:
# the kernel's shared bytes; its array is not needed for the result, and a compiler may leave it out.
FACTS = [0, 1, 0, 0, 0, 0, 32 + 1024 + 1 + 1 + 64, 0, 1024, 0, 1, 0, 1024, 0, 65535, 0, 8, 0, 256, 0, ANY,
         0, 0, 1, 0]  # fmt: skip
# As CUDA 13 answers: a launch that cannot be is an invalid value (1), seen once, and cleared by being read.
# The other codes: 2 no memory, 101 no such device. What follows is dynamic_kernel's.
LAUNCH_ERRORS = [0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 0, 0, 2, 2, 101, 101, 1, 1, 0, 0, 0, *[1] * 10]

NUMBERS = {
    "bits": Expected(bits),
    "conversions": Expected(conversions),
    "functions": Expected(functions, 64, 2e-5),
    "fast_math": Expected(fast_math, 64, 2e-5),
    "control_flow": Expected(control_flow),
    "halves": Expected(halves),
    "half_pairs": Expected(half_pairs),
    "bfloats": Expected(bfloats),
    "small_functions": Expected(small_functions, 64, 1.5e-2),
    "streams_and_events": Expected(streams_and_events),
    "device_facts": Expected(lambda x: FACTS),
    "launch_errors": Expected(lambda x: LAUNCH_ERRORS),
}
