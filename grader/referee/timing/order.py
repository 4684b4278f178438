"""What a block's calls are given: sets in an order, and inputs from a seed, that nobody can foresee."""

from __future__ import annotations

import numpy as np

from grader.referee.timing.plan import Plan


def order(how: Plan, rng: np.random.Generator) -> list[int]:
    """Each set about equally often, in an order that cannot be foreseen, never twice in a row."""
    found = np.resize(rng.permutation(how.sets), how.calls)
    for at in range(how.sets, how.calls, how.sets):
        fresh = rng.permutation(how.sets)
        if fresh[0] == found[at - 1]:
            fresh = fresh[::-1]
        found[at : at + how.sets] = fresh[: how.calls - at]
    return [int(number) for number in found]


def seed_of(rng: np.random.Generator) -> int:
    """Of a block's inputs; as large as a message can hold without loss."""
    return int(rng.integers(1 << 62))
