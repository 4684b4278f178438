"""What the host tells the device must not depend on the values of the inputs.

Two calls with inputs of the same form and other values are watched on the CPU back end, and what was told
in each is compared: launches with their arguments, copies, fills, numbers, torch's operators. A host that
has computed something from the values has to bring it to the device somehow: as an argument, by a copy, by
the choice or the order of launches. Tables, shapes, strides and pointers are the same in both calls, and a
seed is few words.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.protocol.play import Told

MOST, PART = 16, 8  # words that may differ, or fewer for a small result: such a part of it


SHAPE = (
    "grid",
    "grid",
    "grid",
    "block",
    "block",
    "block",
    "shared memory",
    "cluster",
    "cluster",
    "cluster",
    "cooperative or not",
)  # words of a launch, then arguments


@dataclass(frozen=True, slots=True)
class Difference:
    """How many ``words`` differ, in how many ``things`` that were told, and what ``first``."""

    words: int
    things: int
    first: str


def allowed(size: int) -> int:
    """How many words may differ where the largest result has so many elements."""
    return min(MOST, size // PART)


def difference(one: Sequence[Told], other: Sequence[Told]) -> Difference:
    """How the transcripts of two calls differ; nothing in 0 words."""
    found = list(_differing(one, other))
    return Difference(sum(words for _, words in found), len(found), found[0][0] if found else "")


def _differing(one: Sequence[Told], other: Sequence[Told]) -> Iterator[tuple[str, int]]:
    """What differs, and in how many words: by place from both ends, and all that lies between."""
    head = sum(1 for _ in takewhile(_alike, zip(one, other, strict=False)))
    turned = zip(reversed(one[head:]), reversed(other[head:]), strict=False)
    tail = sum(1 for _ in takewhile(_alike, turned))
    ends = len(one) - tail, len(other) - tail
    yield from _words_apart(one[:head], other[:head])
    longer = max(
        (one[head : ends[0]], other[head : ends[1]]), key=lambda told: sum(len(t.words) for t in told)
    )
    yield from (
        (f"{told.what}, which the other call did not have there", len(told.words) + 1) for told in longer
    )
    yield from _words_apart(one[ends[0] :], other[ends[1] :])


def _alike(pair: tuple[Told, Told]) -> bool:
    """Whether both say the same kind of thing, in as many words."""
    a, b = pair
    return a.what == b.what and len(a.words) == len(b.words)


def _words_apart(one: Sequence[Told], other: Sequence[Told]) -> Iterator[tuple[str, int]]:
    """What differs in things that are alike; of a launch also whether it is its shape or an argument."""
    for a, b in zip(one, other, strict=True):
        apart = [i for i, (x, y) in enumerate(zip(a.words, b.words, strict=True)) if x != y]
        if apart and a.what.startswith("a launch of "):
            yield f"{a.what} ({SHAPE[apart[0]] if apart[0] < len(SHAPE) else 'arguments'})", len(apart)
        elif apart:
            yield a.what, len(apart)
