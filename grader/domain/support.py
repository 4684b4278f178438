"""The versions that the course is made for; ``benchmarks/support.py`` tries them. Standard library only."""

from __future__ import annotations

import re
from dataclasses import dataclass

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """What a program is called, and the oldest and the newest version of it that are supported."""

    name: str
    oldest: Version
    newest: Version

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.oldest))} to {'.'.join(map(str, self.newest))}"

    def place(self, version: str) -> int:
        """-1 for a version that is older than all of these, 1 for one that is newer, else 0."""
        found = numbers(version)[: len(self.oldest)]
        return -1 if found < self.oldest else int(found > self.newest)


PYTHON = Range("Python", (3, 11), (3, 14))
TORCH = Range("torch", (2, 11), (2, 15))
CUDA = Range("nvcc", (12, 8), (13, 5))
GCC = Range("g++", (11,), (15,))
CLANG = Range("clang++", (14,), (21,))
CARDS = ("7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "12.0")  # compute capabilities


def numbers(version: str) -> Version:
    """The numbers that a version begins with: (2, 15, 0) for "2.15.0+cu132"."""
    return tuple(int(n) for n in re.findall(r"\d+", version.split("+")[0]))


def architecture(capability: str) -> str:
    """A card's architecture as compilers name it: "sm_90" for "9.0"."""
    return f"sm_{capability.replace('.', '')}"


def covers(architectures: list[str], capability: str) -> bool:
    """Whether programs built for these ("sm_80", "compute_90") run on a card of this compute capability.

    Machine code runs on cards of the same major version that are not older; PTX ("compute_90") on every
    newer one. What is built for one card alone ("sm_90a") runs on that one; ("sm_100f") within its family.
    """
    major, minor = numbers(capability)[:2]
    for name in architectures:
        found = re.fullmatch(r"(sm|compute)_(\d+)(\d)([af]?)", name)
        if not found:
            continue
        kind, at = found[1], (int(found[2]), int(found[3]))
        if at == (major, minor):
            return True
        if found[4] == "a":
            continue
        if at < (major, minor) and (at[0] == major or (kind == "compute" and not found[4])):
            return True
    return False
