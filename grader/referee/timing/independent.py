"""Whether the values of an input may be changed one by one between timed calls.

No two timed calls get the same input. Where nothing ties the values of one together, each element is
multiplied by a number of its own, and neither an earlier result nor anything linear in it is of use. Some
problems promise more about their inputs, and a submission may rely on that: then all of a tensor is
multiplied by one number, which keeps the promise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOOKED_AT = 1 << 16  # values of a large tensor
CLOSE = 1e-3


def independent(values: NDArray[Any]) -> bool:
    """False for what is no floating-point number, or symmetric, sorted, normalised, or of few values only."""
    if values.dtype.kind != "f" or values.size < 2:
        return False
    rows = values.reshape(-1, values.shape[-1])[: max(1, LOOKED_AT // values.shape[-1])].astype(np.float64)
    rows = rows[:, :LOOKED_AT]
    with np.errstate(invalid="ignore", over="ignore"):
        return not (_few(rows) or _sorted(rows) or _normalised(rows) or _symmetric(values))


def _few(rows: NDArray[Any]) -> bool:
    """Masks, indices kept as floats, one-hot rows, constants."""
    return len(np.unique(rows)) < max(2, rows.size / 4)


def _sorted(rows: NDArray[Any]) -> bool:
    steps = np.diff(rows, axis=-1)
    return steps.shape[-1] > 1 and bool((steps >= 0).all() or (steps <= 0).all())


def _normalised(rows: NDArray[Any]) -> bool:
    """Whether all rows have the same sum, or the same sum of squares."""
    return any(_same(part.sum(-1)) for part in (rows, rows * rows)) if rows.shape[-1] > 1 else False


def _same(sums: NDArray[Any]) -> bool:
    if len(sums) == 1:
        return bool(abs(sums[0] - 1) < CLOSE)
    middle = abs(float(sums.mean()))
    return bool(np.isfinite(middle) and middle > 0 and np.abs(sums - sums.mean()).max() < CLOSE * middle)


def _symmetric(values: NDArray[Any]) -> bool:
    if values.ndim < 2 or values.shape[-1] != values.shape[-2]:
        return False
    corner = values.reshape(-1, *values.shape[-2:])[0, :256, :256].astype(np.float64)
    scale = float(np.abs(corner).max())
    return any(bool(np.abs(corner - sign * corner.T).max() <= CLOSE * scale) for sign in (1, -1))
