"""What Thrust's algorithms must give."""

from __future__ import annotations

import numpy as np

from .cub import heads, whole
from .expected import Array, Expected


def maps(x: Array) -> Array:
    """All of thrust_maps's outputs."""
    x = x.astype(np.float32)
    n = len(x)
    saxpy = np.float32(3) * x + np.float32(2) * x
    steps = np.concatenate([x[:1], np.diff(x)])
    numbers = np.arange(n)
    parts = [2 * x, saxpy, np.full(n, 7), numbers, -x, x[::-1], x[::-1], x[::-1], steps, x[::-1]]
    return np.concatenate(parts)


def folds(x: Array) -> Array:
    """All of thrust_folds's outputs."""
    v = whole(x)
    return np.array([
        v.sum(), max(v.max(), 5), v.sum() + 100, (v == 1).sum(), (v % 2 != 0).sum(), (v * v).sum(), x.argmax(),
        x.min(), v[3], 42, 5050, len(v),
    ])  # fmt: skip


def orders(x: Array) -> Array:
    """All of thrust_orders's outputs."""
    v = whole(x)
    keys = np.sort(v)
    begins = np.flatnonzero(heads(keys))
    lengths = np.diff(np.concatenate([begins, [len(keys)]]))
    return np.concatenate([
        v.cumsum(), 10 + v.cumsum() - v, np.sort(x), -np.sort(-x), x[np.argsort(v, kind="stable")],
        np.searchsorted(keys, np.arange(-2, 3)), keys[begins][:5], lengths[:5],
        [len(begins), len(begins), (x > 0).sum()], x[x > 0],
    ])  # fmt: skip


def types(_: Array) -> Array:
    """All of thrust_types's outputs, of 300 ones."""
    return np.array([300, 300.5, 300 % 256, 4e10, 3, 309, 300 % 256, 300 % 256, 2, -1.5, 0])


def sets(_: Array) -> Array:
    """All of thrust_sets's outputs."""
    a, b = np.arange(0, 40, 2), np.arange(0, 60, 3)
    runs = np.split(a, [6, 12, 18])
    parts = [
        np.sort(np.concatenate([a, b])), np.union1d(a, b), np.intersect1d(a, b), np.setdiff1d(a, b),
        np.setxor1d(a, b), np.concatenate([r.cumsum() for r in runs]),
        np.concatenate([100 + r.cumsum() - r for r in runs]), np.concatenate([b[::2], b[1::2]]),
    ]  # fmt: skip
    told = [np.concatenate([[len(p)], p]) for p in parts]
    told[-1][0] = 10  # where the second part begins
    return np.concatenate([*told, [5]])


THRUST = {
    "thrust_maps": Expected(maps, 500, 1e-6),
    "thrust_folds": Expected(folds, 500),
    "thrust_orders": Expected(orders, 500),
    "thrust_sets": Expected(sets, 10),
    "thrust_types": Expected(types, 300),
}
