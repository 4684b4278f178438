"""Infinities and NaN on the wire, whose JSON has no word for them: they are told as text."""

from __future__ import annotations

import math
from typing import Any

WORDS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def told(value: Any) -> Any:
    """A value as it may be sent: a float that is not finite as its word, all else as it is."""
    return str(float(value)) if isinstance(value, float) and not math.isfinite(value) else value


def heard(value: Any) -> Any:
    """What :func:`told` was given."""
    return WORDS.get(value, value) if isinstance(value, str) else value
