"""Problems that prove nothing: results of one value, results that no input changes, zeros that would pass."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.referee.problem import Compared, Posed


MOST_SLACK = 1e-2  # of the largest value: where more is allowed, a wrong result may pass


@dataclass(slots=True)
class Signs:
    """What the rounds with inputs as given have shown of the problem.

    ``constant``: for each round whether the results are of one value throughout. The first two rounds have
    the same weights, so ``same``, that new inputs changed nothing, says something of the problem only if
    the results were not constant then, or are always. ``shown``: the unkind inputs, by name, whose results
    were neither of one value nor those of other inputs: with these a wrong result shows.
    """

    constant: list[bool] = field(default_factory=list)
    same: bool = False
    others: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    def round(self, posed: Posed) -> None:
        """One more round."""
        self.constant.append(bool(posed.tensors) and all(t.constant for t in posed.tensors))

    def first(self, comparison: Compared, *, looked: bool) -> None:
        """After the first round: is there anything that a wrong result would be told by?

        ``looked``: it was tried whether zeros would pass.
        """
        posed = comparison.posed
        if not posed.tensors and not any(isinstance(leaf.value, float) for leaf in posed.leaves):
            self.others.append("it returns no tensor")
        elif not self.always and posed.tensors and looked and comparison.zeros_pass and comparison.results:
            self.others.append("zeros would be within its tolerance everywhere")
        elif not self.always and MOST_SLACK < comparison.slack < math.inf:
            self.others.append(
                "its own results miss the exact ones by so much that an error of "
                f"{100 * comparison.slack:.2g} % of the largest value is within its tolerance"
            )

    def unkind(self, name: str, comparison: Compared) -> None:
        """After the round of unkind inputs, in which it was tried whether zeros would pass."""
        posed = comparison.posed
        varied = posed.tensors and not posed.answered.same and not all(t.constant for t in posed.tensors)
        if varied and not comparison.zeros_pass and not MOST_SLACK < comparison.slack < math.inf:
            self.shown.append(name)

    @property
    def always(self) -> bool:
        """Whether every round so far had results of one value."""
        return bool(self.constant) and all(self.constant)

    def __iter__(self) -> Iterator[str]:
        """Each as part of a sentence."""
        yield from self.others
        if not self.shown:
            yield from self.kind

    @property
    def kind(self) -> Iterator[str]:
        """What the inputs as given alone say."""
        if self.always:
            yield "its result is one value throughout"
        if self.same and (self.always or not any(self.constant[:2])):
            yield "its results do not depend on the input"
