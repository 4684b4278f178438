"""Winnowing: of the hashes of all runs of K tokens keep the smallest in every window of W.

S. Schleimer, D. Wilkerson, A. Aiken, "Winnowing: Local Algorithms for Document Fingerprinting", SIGMOD
2003. Any two files that share a run of W + K - 1 tokens share a fingerprint; runs shorter than K never
count. Where the runs lie does not matter, so functions in another order are found as well.

In a run the names are numbered in the order in which they come, so that other names make the same run, and
one name instead of two makes another. What many write independently says little about a pair, so that each
fingerprint has a weight: the logarithm of how few of the others have it. Whoever copied is counted once for
that, with those whom the copy is from; else nothing would be rare in a class in which most have copied.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grader.teaching.similar.fingerprint_tokens import Token

K, W = 9, 3
ALIKE = (
    0.8  # files that share so much of all their own fingerprints are one writer's when writers are counted
)
FEWEST = 3  # shared fingerprints; fewer are no pair

Prints = dict[int, tuple[int, int]]  # fingerprint: first and last line


@dataclass(frozen=True, slots=True)
class Pair:
    """Two files that share fingerprints.

    ``share``: of the weight of the smaller file's own fingerprints, that of those which the other has too;
    ``common`` how many. ``lines``: (from, to in the first; from, to in the second), the longest first.
    """

    first: str
    second: str
    share: float
    common: int
    lines: tuple[tuple[int, int, int, int], ...]


def prints(tokens: list[Token]) -> Prints:
    """Fingerprints with the lines that each comes from."""
    hashes = [_hash(tokens[k : k + K]) for k in range(len(tokens) - K + 1)]
    kept: Prints = {}
    last = -1
    for start in range(max(1, len(hashes) - W + 1) if hashes else 0):
        window = hashes[start : start + W]
        least = min(window)
        place = start + max(k for k, h in enumerate(window) if h == least)  # the rightmost, as in the paper
        if place != last:
            last = place
            kept.setdefault(least, (tokens[place].line, tokens[place + K - 1].line))
    return kept


def _hash(run: list[Token]) -> int:
    names: dict[str, int] = {}
    words = [f"name {names.setdefault(t.text, len(names))}" if t.what == "name" else t.what for t in run]
    return int.from_bytes(hashlib.blake2b("\0".join(words).encode(), digest_size=8).digest(), "big")


def own(files: Mapping[str, Prints], starters: Iterable[Prints]) -> dict[str, Prints]:
    """Fingerprints without those of what the course hands out."""
    given = {h for one in starters for h in one}
    return {name: {h: p for h, p in found.items() if h not in given} for name, found in files.items()}


def pairs(
    files: Mapping[str, Prints], starters: Iterable[Prints], least: float, sources: Iterable[str] = ()
) -> list[Pair]:
    """Pairs whose share is at least ``least``, the most alike first; what starters have does not count.

    ``sources``: names of files that may have been copied from; two of them are no pair.
    """
    mine, known = own(files, starters), set(sources)
    where: dict[int, list[str]] = defaultdict(list)
    for name, found in mine.items():
        for h in found:
            where[h].append(name)
    together: Counter[tuple[str, str]] = Counter()
    for names in where.values():
        for k, first in enumerate(names):
            for second in names[k + 1 :]:
                together[first, second] += 1
    writer = _writers(mine, together)
    writers = {h: {writer[name] for name in names} for h, names in where.items()}
    count = len(set(writer.values()))
    ranked: list[Pair] = []
    for (first, second), common in together.items():
        if common < FEWEST or {first, second} <= known:
            continue
        share = _share(mine[first], mine[second], {writer[first], writer[second]}, writers, count)
        if share >= least:
            ranked.append(Pair(first, second, share, common, stretches(mine[first], mine[second])))
    return sorted(ranked, key=lambda p: (-p.share, -p.common, p.first, p.second))


def _writers(mine: Mapping[str, Prints], together: Counter[tuple[str, str]]) -> dict[str, str]:
    """For each file the first of those that are so alike that they count as one writer's."""
    leader = {name: name for name in mine}

    def find(name: str) -> str:
        while leader[name] != name:
            leader[name] = name = leader[leader[name]]
        return name

    for (first, second), common in together.items():
        if common >= ALIKE * max(len(mine[first]), len(mine[second])):
            leader[find(second)] = find(first)
    return {name: find(name) for name in mine}


def _share(
    first: Prints, second: Prints, pair: set[str], writers: Mapping[int, set[str]], count: int
) -> float:
    """The weight of what both have, as a part of what the one with less of its own has."""
    others = count - len(pair)

    def weight(h: int) -> float:
        return math.log2((others + 2) / (len(writers[h] - pair) + 1))

    shared = sum(weight(h) for h in first.keys() & second.keys())
    smaller = min(sum(map(weight, first)), sum(map(weight, second)))
    return shared / smaller if smaller else 0.0


def stretches(first: Prints, second: Prints) -> tuple[tuple[int, int, int, int], ...]:
    """Shared fingerprints joined where they follow each other in both files; the longest first."""
    places = sorted((*first[h], *second[h]) for h in first.keys() & second.keys())
    joined: list[list[int]] = []
    for a, b, c, d in places:
        if joined and a <= joined[-1][1] + 1 and joined[-1][2] <= c <= joined[-1][3] + 1:
            joined[-1][1], joined[-1][3] = max(joined[-1][1], b), max(joined[-1][3], d)
        else:
            joined.append([a, b, c, d])
    joined.sort(key=lambda s: s[0] - s[1])
    return tuple((s[0], s[1], s[2], s[3]) for s in joined)
