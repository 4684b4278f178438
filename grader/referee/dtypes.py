"""torch's dtypes on the referee's side, which has numpy only: how their bytes are read, what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.referee.judge import Fair, fair

Array = NDArray[Any]
WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")
FLOATS = ("float16", "float32", "float64")
KNOWN = (*WHOLE, *FLOATS, "bfloat16")
# Half precision keeps few digits, so its own rounding is most of the framework's error: less is multiplied.
HALF_FACTOR, HALF_ULPS = 3.0, 1.0


def size_of(dtype: str) -> int:
    """Bytes of an element."""
    return 2 if dtype == "bfloat16" else np.dtype(dtype).itemsize


def is_float(dtype: str) -> bool:
    """Whether its values are rounded."""
    return dtype == "bfloat16" or dtype in FLOATS


def array(data: bytes, dtype: str) -> Array:
    """Bytes as numbers; bfloat16, which numpy lacks, as float32 of the same values."""
    if dtype == "bfloat16":
        return (np.frombuffer(data, np.uint16).astype(np.uint32) << 16).view(np.float32)
    return np.frombuffer(data, dtype)


def tolerance(dtype: str, depth: float) -> Fair | None:
    """What error is fair for results of this dtype; None for whole numbers.

    ``depth``: how many terms a result is reckoned to be a sum of. torch on a CPU sums some things in float64,
    and an honest kernel in float32 does not: its error grows with the root of the terms. 0: twenty times the
    framework's own error is enough, as it was tried to be for the cases of lessons (benchmarks/tolerance.py).
    """
    if not is_float(dtype):
        return None
    eps = np.finfo(np.float64 if dtype == "float64" else np.float32).eps
    more = 0.5 * float(eps) * min(depth, 2.0**20) ** 0.5
    if dtype == "bfloat16":
        info = np.finfo(np.float32)
        return Fair(2.0**-7, float(info.max), 2.0**-133, HALF_FACTOR, HALF_ULPS, more)
    by = fair(dtype)
    factors = (HALF_FACTOR, HALF_ULPS) if dtype == "float16" else (by.factor, by.ulps)
    return Fair(by.eps, by.largest, by.tiny, *factors, more)
