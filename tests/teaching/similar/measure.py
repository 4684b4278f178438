"""How many copies are found in made-up classes of 20, and how many honest pairs are named.

python -m tests.teaching.similar.measure 4
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.domain.lessons import find
from grader.teaching.similar import fingerprint_tokens, winnow
from tests.teaching.similar import fill_ins

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.teaching.similar.winnow import Pair

LESSON = find("07")


@dataclass(slots=True)
class Counted:
    """``found`` of ``copies`` (with what was copied from), and ``named`` of the ``honest`` pairs."""

    found: int = 0
    copies: int = 0
    named: int = 0
    honest: int = 0


def pairs(texts: dict[str, str], least: float = 0.5) -> list[Pair]:
    """What is alike among texts for lesson 07."""
    starters = [
        winnow.prints(fingerprint_tokens.tokens(p.read_text())) for p in (LESSON.exercise, LESSON.reference)
    ]
    return winnow.pairs(
        {k: winnow.prints(fingerprint_tokens.tokens(v)) for k, v in texts.items()}, starters, least
    )


def classes(seeds: Iterable[int]) -> Counted:
    """For each seed 15 classes: of 20 files 1 to 15 are copies of another, the others independent."""
    all_of = Counted()
    for seed in seeds:
        for count in range(1, 16):
            draw = random.Random(1000 * seed + count)
            texts = {f"h{k}": fill_ins.honest(draw) for k in range(20 - count)}
            texts |= {f"c{k}": fill_ins.copy(texts["h0"], draw) for k in range(count)}
            group = {"h0", *(f"c{k}" for k in range(count))}
            listed = pairs(texts, 0.75)
            inside = {name for p in listed if {p.first, p.second} <= group for name in (p.first, p.second)}
            all_of.found += len(inside)
            all_of.copies += len(group)
            all_of.named += sum(not {p.first, p.second} <= group for p in listed)
            all_of.honest += 190 - len(group) * (len(group) - 1) // 2
    return all_of


if __name__ == "__main__":
    print(classes(range(int(sys.argv[1]))))
