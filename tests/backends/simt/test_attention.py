"""Attention by ``mma.sync`` is attention, on the CPU back end, and every access of it is in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import errors_of
from .programs import attention


@pytest.mark.slow(cases=1)
def test_it_is_as_near_to_float64_as_bfloat16_is() -> None:
    errors = errors_of(Path(attention.__file__))
    assert errors.keys() > attention.SIZES.keys()
    assert max(errors.values()) < 0.01, errors
