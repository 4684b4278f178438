"""Winnowing: of the hashes of all runs of K tokens keep the smallest in every window of W.

S. Schleimer, D. Wilkerson, A. Aiken, "Winnowing: Local Algorithms for Document Fingerprinting", SIGMOD
2003. Any two files that share a run of W + K - 1 tokens share a fingerprint; runs shorter than K never
count. Where the runs lie does not matter, so functions in another order are found as well.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grader.teaching.similar.fingerprint_tokens import Token

K, W = 12, 8
COMMON = 0.4  # a fingerprint in more than this share of many files is how everybody writes it
MANY = 12

Prints = dict[int, tuple[int, int]]  # fingerprint: first and last line


@dataclass(frozen=True, slots=True)
class Pair:
    """Two files that share fingerprints.

    ``share``: of the smaller file's own fingerprints, those that the other has too; ``common`` how many.
    ``lines``: (from, to in the first; from, to in the second) of the longest shared stretches.
    """

    first: str
    second: str
    share: float
    common: int
    lines: tuple[tuple[int, int, int, int], ...]


def prints(tokens: list[Token]) -> Prints:
    """Fingerprints with the lines that each comes from."""
    hashes = [_hash([t for t, _ in tokens[k : k + K]]) for k in range(len(tokens) - K + 1)]
    kept: Prints = {}
    last = -1
    for start in range(max(1, len(hashes) - W + 1) if hashes else 0):
        window = hashes[start : start + W]
        least = min(window)
        place = start + max(k for k, h in enumerate(window) if h == least)  # the rightmost, as in the paper
        if place != last:
            last = place
            kept.setdefault(least, (tokens[place][1], tokens[place + K - 1][1]))
    return kept


def _hash(run: list[str]) -> int:
    return int.from_bytes(hashlib.blake2b("\0".join(run).encode(), digest_size=8).digest(), "big")


def pairs(files: Mapping[str, Prints], starters: Iterable[Prints], least: float) -> list[Pair]:
    """Pairs whose share is at least ``least``, the most alike first; what starters have does not count."""
    given = {h for one in starters for h in one}
    own = {name: {h: p for h, p in found.items() if h not in given} for name, found in files.items()}
    where: dict[int, list[str]] = defaultdict(list)
    for name, found in own.items():
        for h in found:
            where[h].append(name)
    if len(own) >= MANY:
        usual = {h for h, names in where.items() if len(names) > COMMON * len(own)}
        own = {name: {h: p for h, p in found.items() if h not in usual} for name, found in own.items()}
        where = defaultdict(list, {h: n for h, n in where.items() if h not in usual})
    together: Counter[tuple[str, str]] = Counter()
    for names in where.values():
        for k, first in enumerate(names):
            for second in names[k + 1 :]:
                together[(first, second)] += 1
    ranked: list[Pair] = []
    for (first, second), common in together.items():
        share = common / min(len(own[first]), len(own[second]))
        if share >= least and common >= 3:
            ranked.append(Pair(first, second, share, common, _stretches(own[first], own[second])))
    return sorted(ranked, key=lambda p: (-p.share, -p.common, p.first, p.second))


def _stretches(first: Prints, second: Prints) -> tuple[tuple[int, int, int, int], ...]:
    """Shared fingerprints joined where they follow each other in both files; the three longest."""
    places = sorted((*first[h], *second[h]) for h in first.keys() & second.keys())
    joined: list[list[int]] = []
    for a, b, c, d in places:
        if joined and a <= joined[-1][1] + 1 and joined[-1][2] <= c <= joined[-1][3] + 1:
            joined[-1][1], joined[-1][3] = max(joined[-1][1], b), max(joined[-1][3], d)
        else:
            joined.append([a, b, c, d])
    joined.sort(key=lambda s: s[0] - s[1])
    return tuple((s[0], s[1], s[2], s[3]) for s in joined[:3])
