"""The calls that make up a case. Each differs from the one before in something that a cache could miss.

What a submission remembers, it must recognise by something: an address, a shape, a version, a sum, a few
samples, the object itself. Between two rounds one of these stays as it was while the right answer changes,
or changes while the answer stays. All answers are compared, so it does not matter which was remembered.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from grader.domain.task import Case, Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

ENOUGH, MOST = 16, 8  # elements that a case's first calls return in all; but not more calls than that
CHANGED_LATER = (
    "The result of the call before changed afterwards: it shares its memory with an input, a weight or this "
    "result. Each call must return memory of its own."
)
SMALL = 4096  # elements of inputs; larger calls take their time


@dataclass(frozen=True, slots=True)
class Round:
    """One call of a case.

    ``inputs``: "new" tensors; "refill" writes new values into the tensors of the last call; "swap" exchanges
    two of their elements, so that sums and most samples agree; "move" passes the same values in new tensors;
    "keep" passes the very same tensors. ``weights``: "write" new values in place, "replace" the memory by
    new memory with new values, "move" the same values to new memory, or "keep" them. ``what`` happened, for
    the message when the answer is wrong. ``followed``: another call, of other sizes, is made before anything
    waits for this one.
    """

    inputs: Literal["new", "refill", "swap", "move", "keep"]
    weights: Literal["write", "replace", "move", "keep"]
    what: str = ""
    followed: bool = False

    @property
    def same_answer(self) -> bool:
        """Whether the right answer is that of the round before."""
        return self.inputs == "move"


FIRST = Round("new", "write")
REFILL = Round("refill", "keep", "new values were written into the same input tensors")
MOVE = Round("move", "move", "the same values were passed at other addresses")
REWEIGH = Round("keep", "write", "the weights were changed in place and the input was not")
SWAP = Round("swap", "replace", "two elements of the input changed places")
SWAP_MODEL = replace(SWAP, what="two elements of the input changed places and the weights got new memory")
RENEW = Round("keep", "replace", "the weights got new values in new memory and the input stayed")
FOLLOWED = replace(REFILL, followed=True)
AGAIN = Round("new", "write", "both got new values")
BEHIND = (
    "Right after this call came others, of other sizes, while the device had not done this one yet. What a "
    "call keeps for its kernels (a buffer, a variable, pinned memory), the next must not change before they "
    "are done."
)
FULL_SIZE = (FIRST, REFILL, RENEW)  # few calls, for they take their time, so each changes more


def planned(case: Case, *, model: bool) -> list[Round]:
    """The rounds of a case, the ordinary call first; of a ``model``, which has weights, or of a function."""
    if case.expect == "raise":
        return [FIRST]
    first = [FIRST] * case.calls
    if not any(isinstance(a, Tensor) and 0 not in a.shape for a in case.args):
        return first
    return [*first, REFILL, MOVE, REWEIGH, SWAP_MODEL] if model else [*first, REFILL, MOVE, SWAP]


def watched(planned: Sequence[Round], rng: np.random.Generator, *, twice: bool) -> frozenset[int]:
    """The numbers of those that are watched: any, and ``twice``: one whose inputs have other values."""
    drawn = list(itertools.accumulate(one.inputs in ("new", "refill") for one in planned))
    one = int(rng.integers(len(planned)))
    others = [number for number, draw in enumerate(drawn) if twice and draw != drawn[one]]
    return frozenset((one, int(rng.choice(others)))) if others else frozenset((one,))


def more(case: Case, elements: int) -> int:
    """How many calls like the first to add: of few elements each is right by chance too often.

    A ReLU of one number is 0 half of the time, whatever is left out before it. ``elements``: of an answer.
    """
    inputs = [math.prod(a.shape) for a in case.args if isinstance(a, Tensor)]
    if case.expect == "raise" or not elements or not 0 < sum(inputs) <= SMALL:
        return 0
    return max(0, min(MOST, -(-ENOUGH // elements)) - case.calls)
