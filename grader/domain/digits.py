"""Two numbers of which one is called wrong, with so many digits that they look different."""

from __future__ import annotations

MOST = 17  # digits that tell any two numbers of 64 bits apart


def apart(one: float, other: float, least: int = 7) -> tuple[str, str]:
    """Both in ``least`` digits, or in as many more as tell them apart; equal ones in ``least``."""
    if one != other:
        for digits in range(least, MOST):
            said = f"{one:.{digits}g}", f"{other:.{digits}g}"
            if said[0] != said[1]:
                return said
        least = MOST
    return f"{one:.{least}g}", f"{other:.{least}g}"
