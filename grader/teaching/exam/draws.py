"""What is drawn for a student: the same name and secret always get the same, and no other name does."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Draws:
    """Choices for ``name``. Without the teacher's ``secret`` students could draw their own keys."""

    name: str
    secret: str = ""

    @classmethod
    def of_term(cls, term: str, secret: str = "") -> Draws:
        """What is drawn for all students of a term, as 2027w; 2027w as a student's name gives others."""
        return cls(f"term-{term}" if term.strip() else "", secret)

    def one(self, what: str, options: Sequence[T]) -> T:
        """One of the options; ``what`` tells one draw from another."""
        person = " ".join(self.name.lower().split())
        seed = hashlib.sha256(f"{self.secret}\n{person}\n{what}".encode()).digest()
        return options[int.from_bytes(seed[:8]) % len(options)]

    def number(self, what: str, least: int, most: int) -> int:
        """A whole number from ``least`` to ``most``."""
        return self.one(what, range(least, most + 1))

    def eighths(self, what: str, least: int, most: int) -> float:
        """A number of eighths between two whole numbers that is not whole: exact in float32."""
        return self.one(what, [k / 8 for k in range(8 * least, 8 * most) if k % 8])
