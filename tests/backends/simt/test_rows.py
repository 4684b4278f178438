"""``solutions/15_softmax/rows.py`` on the CPU back end: right, and every access of it is in its place and in order."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import errors_of
from .programs import rows

CLOSE = {"float32": 5e-7, "bfloat16": 0.004}  # half a unit in the last place of bfloat16 is a 512th


@pytest.mark.slow(cases=1)
def test_it_is_as_near_to_float64_as_its_dtype_is() -> None:
    errors = errors_of(Path(rows.__file__))
    for dtype, found in errors.items():
        assert len(found) == len(rows.SIZES[getattr(rows.torch, dtype)])
        for size, each in found.items():
            assert max(each.values()) < CLOSE[dtype], (dtype, size, each)
