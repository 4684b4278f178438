"""Inputs of a case, drawn fresh for every call from a seed that no submission is told."""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

if TYPE_CHECKING:
    from grader.domain.task import Tensor

Array = NDArray[Any]
LARGE, THREADS = 1 << 21, 8
GAP = 3  # columns beside a slice of columns
SPIKE = 1000.0


def generator(seed: int | None = None) -> np.random.Generator:
    """A generator that nothing in a player could predict or replay; with a ``seed`` whoever has it can."""
    return np.random.Generator(
        np.random.PCG64(int.from_bytes(os.urandom(16), "big") if seed is None else seed)
    )


@dataclass(frozen=True, slots=True)
class Drawn:
    """A drawn tensor: flat ``storage`` and the view of it that the call gets (strides count elements)."""

    storage: Array
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    start: int
    device: str

    @property
    def dtype(self) -> str:
        """The numpy name of the dtype."""
        return str(self.storage.dtype)

    def view(self) -> Array:
        """The logical array, as the call sees it."""
        if not math.prod(self.shape):
            return np.empty(self.shape, self.storage.dtype)
        item = self.storage.itemsize
        return as_strided(self.storage[self.start :], self.shape, [s * item for s in self.strides])


def layout(spec: Tensor) -> tuple[tuple[int, ...], tuple[int, ...], int, int]:
    """How an input lies in memory: shape, strides, start, and elements to the last that a view reaches."""
    shape, strides, start, _ = _layout(spec)
    span = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) if math.prod(shape) else 0
    return shape, strides, start, start + span


def draw(spec: Tensor, rng: np.random.Generator) -> Drawn:
    """Draw one input. Gaps between the elements of a view hold noise too, so a wrong stride shows."""
    shape, strides, start, elements = _layout(spec)
    values = _values(spec, elements, rng)
    if spec.shift:
        values = values + spec.shift
    return Drawn(values.astype(spec.dtype, copy=False), shape, strides, start, spec.device)


def _normal(n: int, rng: np.random.Generator) -> Array:
    """``n`` normal numbers. Millions of them are drawn in float32, by several generators at the same time."""
    if n < LARGE:
        return rng.standard_normal(n)
    values, step = np.empty(n, np.float32), -(-n // THREADS)
    parts = [values[at : at + step] for at in range(0, n, step)]
    with ThreadPoolExecutor(THREADS) as pool:
        drawn = [
            pool.submit(one.standard_normal, dtype=np.float32, out=part)
            for one, part in zip(rng.spawn(len(parts)), parts, strict=True)
        ]
        for each in drawn:
            each.result()
    return values


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of a contiguous tensor, in elements."""
    return tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))


def _layout(spec: Tensor) -> tuple[tuple[int, ...], tuple[int, ...], int, int]:
    shape, size = spec.shape, math.prod(spec.shape)
    if spec.layout == "transposed" and len(shape) >= 2:
        stored = (*shape[:-2], shape[-1], shape[-2])
        s = row_major(stored)
        return shape, (*s[:-2], s[-1], s[-2]), 0, size
    if spec.layout == "strided":
        return shape, tuple(2 * s for s in row_major(shape)), 0, 2 * size
    if spec.layout == "columns" and len(shape) >= 2:
        s = row_major((*shape[:-1], shape[-1] + GAP))
        return shape, s, 0, math.prod(shape[:-1]) * (shape[-1] + GAP)
    if start := {"offset": 1, "offset by two": 2}.get(spec.layout, 0):
        return shape, row_major(shape), start, size + start
    if spec.layout == "expanded" and size:
        return shape, (0, *row_major(shape)[1:]), 0, size // shape[0]
    return shape, row_major(shape), 0, size


def _values(spec: Tensor, n: int, rng: np.random.Generator) -> Array:
    if spec.fill == "zeros":
        return np.zeros(n)
    if spec.fill == "bits":
        return rng.integers(0, 2, n).astype(np.float64)
    if spec.fill == "uniform":
        return rng.random(n) * spec.scale
    values = _normal(n, rng)
    if spec.scale != 1.0:
        values *= values.dtype.type(spec.scale)
    if spec.fill == "spike":
        values[:: spec.shape[-1]] = SPIKE
    if spec.fill in ("special", "limits") and n >= 3:
        places = rng.choice(n - 1, size=max(2, n // 50), replace=False)
        places = np.append(n - 1, places)  # the last one, too: there an index that is one too large begins
        for k, value in enumerate(rng.permutation((np.nan, np.inf, -np.inf))):
            values[places[k::3]] = value
    if spec.fill == "nan at the end":
        values[n - 1 :] = np.nan
    if spec.fill == "masked":
        values[rng.random(n) < 0.5] = -np.inf
    if spec.fill == "limits":
        values[: spec.shape[-1]] = np.finfo(spec.dtype).min * rng.uniform(0.9, 0.95, spec.shape[-1])
    if spec.fill in ("masked", "limits"):
        values[n - spec.shape[-1] :] = -np.inf
    return values
