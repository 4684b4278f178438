"""A number and what it counts, as English has it: "1 row", "12 rows"."""

from __future__ import annotations


def plural(number: int, noun: str, many: str = "") -> str:
    """``number`` with ``noun``, or with ``many`` (by default ``noun`` and an s) unless it is one."""
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"
