"""What CUB's algorithms of a device and of a block must give."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from .expected import Array, Expected

MOST = np.maximum.accumulate


def whole(x: Array) -> Array:
    """The kernels' integers: halves, towards zero."""
    return np.trunc((x.astype(np.float32) * np.float32(2)).astype(float))


def heads(v: Array) -> Array:
    """Where a run of equal numbers begins."""
    return np.concatenate([[True], v[1:] != v[:-1]])


def reductions(x: Array) -> Array:
    """All of device_reduce's outputs."""
    return np.array([x.max(), x.min(), max(x.max(), 0.5), whole(x).sum()])


def scans(x: Array) -> Array:
    """All of device_scan's outputs."""
    v = whole(x)
    before = np.concatenate([[0.25], np.maximum(MOST(x)[:-1], 0.25)])
    return np.concatenate([v.cumsum(), v.cumsum() - v, MOST(x), before])


def sorts(x: Array) -> Array:
    """All of device_sort's outputs."""
    v = whole(x)
    return np.concatenate([np.sort(x), -np.sort(-x), x[np.argsort(v, kind="stable")], np.sort(v), np.sort(v)])


def selections(x: Array) -> Array:
    """All of device_select's outputs; what is beyond the selected items is not specified."""
    v, yes = whole(x), x[x > 0]
    begins = np.flatnonzero(heads(v))
    lengths = np.diff(np.concatenate([begins, [len(v)]]))
    padded = np.concatenate([yes, np.full(len(x) - len(yes), np.nan)])
    parted = np.concatenate([yes, x[x <= 0][::-1]])
    return np.concatenate([padded, [len(yes)], parted, [len(begins)], lengths[:20], v[begins][:20]])


def segments(x: Array) -> Array:
    """All of device_segments's outputs."""
    at = [i * i * len(x) // 9 for i in range(4)]
    parts = [x[a:b] for a, b in pairwise(at)]
    counts = np.histogram(x.astype(np.float32), 16, (-4, 4))[0]
    return np.concatenate([[p.max() for p in parts], *map(np.sort, parts), counts])


def moves(x: Array) -> Array:
    """The same for each way of loading and storing."""
    return np.tile(2 * x.astype(np.float32) + (np.arange(len(x)) // 3).astype(np.float32), 4)


def block_sorts(x: Array) -> Array:
    """All of block_sorts_kernel's outputs."""
    return np.concatenate([np.sort(x), np.argsort(x, kind="stable"), -np.sort(-x), np.sort(x)])


def prefixes(x: Array) -> Array:
    """All of block_prefix_kernel's outputs."""
    v = whole(x)
    firsts = v.reshape(2, 64, 2)[:, :, 0]
    before = np.concatenate([np.full((2, 1), -5), np.maximum(MOST(firsts, axis=1)[:, :-1], -5)], 1)
    return np.concatenate([1000 + v.cumsum(), before.reshape(-1)])


def neighbours(x: Array) -> Array:
    """All of block_neighbours_kernel's outputs."""
    v = whole(x)
    differences = np.concatenate([v[:1], np.diff(v)])
    turned = np.roll(v[::2], -3)
    counts = np.bincount(v.astype(int) & 7, minlength=8)
    return np.concatenate([heads(v), differences, v, turned, counts])


def warp_segments(x: Array) -> Array:
    """All of warp_segments_kernel's outputs."""
    v, out = whole(x), np.full(64, np.nan)
    for first in range(0, 32, 5):
        out[first] = v[first : first + 5].sum()
    for first in range(0, 32, 7):
        out[32 + first] = v[first : first + 7].sum()
    return out


def composed(x: Array) -> Array:
    """All of composed's outputs: (factor, summand) of the first items of a block or of a warp's eighth."""
    v, out = whole(x).astype(int) + 10, list[int]()
    parts = [(0, 100), (0, 67), (0, 96), (0, 24), (0, 5), (0, 33)]
    parts += [(first, first + valid) for valid in (8, 3) for first in range(0, 32, 8)]
    parts += [(0, 15), (0, 16), (16, 31), (16, 32)]
    for begin, end in parts:
        factor, summand = 1, 0
        for t in range(begin, end):
            factor, summand = factor * (2 + t % 7) % 997, (summand * (2 + t % 7) + int(v[t])) % 997
        out += [factor, summand]
    return np.array(out)


def accumulators(_: Array) -> Array:
    """All of accumulators's outputs, of 300 ones: none of them fits into a byte."""
    sums = [7, 300, 301, 300.5, 280, 20, 300, 299, 300, 549, 300, 300]
    return np.array([*sums, 0, 1, 1, 1, 1, 1])


CUB = {
    "device_reduce": Expected(reductions, 1000),
    "device_scan": Expected(scans, 1000),
    "device_sort": Expected(sorts, 700),
    "device_select": Expected(selections, 600),
    "device_segments": Expected(segments, 900),
    "block_moves": Expected(moves, 170),
    "block_sorts": Expected(block_sorts, 192),
    "block_prefix": Expected(prefixes, 256),
    "block_neighbours": Expected(neighbours, 128),
    "warp_segments": Expected(warp_segments, 32),
    "accumulators": Expected(accumulators, 300),
    "composed": Expected(composed, 128),
}
