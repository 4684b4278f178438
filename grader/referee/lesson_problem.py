"""The problem of a lesson: cases with the inputs that each declares, and weights that are always drawn."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from grader.domain import inputs
from grader.domain.task import EXTENSION, Tensor
from grader.protocol import play
from grader.protocol.play import Begun, InputForm, Key, Made
from grader.referee import rounds, state_match
from grader.referee.dtypes import is_float
from grader.referee.problem import Inputs, Problem, Sides

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.task import Case
    from grader.referee.rounds import Round
    from grader.referee.side import Side
    from grader.referee.state_match import Held


class LessonProblem(Problem):
    """The cases of a task."""

    draws = 5

    def __init__(self, sides: Sides) -> None:
        super().__init__(sides)
        self.wanted: list[Held] = []  # what the reference's model holds

    def open(self) -> None:
        """Load the reference, if there is something to ask it."""
        if self.sides.task.cases:
            super().open()

    def shows_streams(self, case: Case, backend: str) -> bool:
        """On a GPU. Without one the static look names each launch; more is said only if there are points."""
        asked = backend == "cuda" or self.sides.task.stream_points > 0
        return asked and any(
            isinstance(a, Tensor) and a.device == "cuda" and 0 not in a.shape for a in case.args
        )

    def is_model(self, case: Case) -> bool:
        """Whether the case is about the task's model, and not about a function."""
        return self.sides.task.kind == "model" and not case.entry

    def rounds(self, case: Case) -> Iterator[tuple[Round, bool]]:
        """As planned; how many more like the first are needed shows when the first answer is there."""
        first, *rest = rounds.planned(case, model=self.is_model(case))
        self.rng.shuffle(rest)
        twice = self.mine.player.backend == "simt"
        watched = rounds.watched([first, *rest], self.rng, twice=twice)
        yield first, 0 in watched
        extra = rounds.more(case, sum(self.posed.sizes) if self.posed else 0)
        too = int(self.rng.integers(max(1, extra)))
        yield from ((first, number == too) for number in range(extra))
        yield from ((one, number in watched) for number, one in enumerate(rest, 1))

    def construct(self, case: Case) -> None:
        """The model of a case with its arguments on both sides, or the function that it names."""
        if self.is_model(case):
            self.begin(case)
            self.match(self.wanted, self.make(case, self.mine), self.sides.task.entry)
            if self.sides.task.same_names:
                state_match.require_names(self.pairs, self.sides.task.entry)
        else:  # a function holds nothing that would have to be asked for
            self.theirs.later(self._begin(case))
            self.mine.later(self._make(case))
            self.wanted, self.table = [], None

    def begin(self, case: Case, *, there: bool = False) -> None:
        """The reference's model. ``there``: its parameters are made on the GPU, not moved to it."""
        self.wanted = state_match.read(self.theirs.ask(self._begin(case, there=there), Begun).state)

    def _begin(self, case: Case, *, there: bool = False) -> play.Begin:
        task, model = self.sides.task, self.is_model(case)
        return play.Begin(
            case.entry.removeprefix(EXTENSION) or task.reference_entry or task.entry,
            self.seed(), "eval" if model else "",
            "model" if model else "function", init=play.plain_node(list(case.init)), attributes=False,
            there=there, gradients=case.gradients,
        )  # fmt: skip

    def make(self, case: Case, side: Side) -> Made:
        """The submission's model. A lesson asks for parameters, so plain attributes are no part of it."""
        return side.ask(self._make(case), Made)

    def _make(self, case: Case) -> play.Make:
        task, model = self.sides.task, self.is_model(case)
        return play.Make(
            case.entry or task.entry, play.plain_node(list(case.init)), self.seed(), "eval" if model else "",
            "model" if model else "function", attributes=False, gradients=case.gradients,
        )  # fmt: skip

    def scales(self) -> list[tuple[Key, float]]:
        """Each tensor that gets weights, and what they are scaled by so that sums stay near one."""
        floats = [held for held in self.wanted if is_float(held.dtype)]
        return [(h.key, 1 / math.sqrt(max(1, math.prod(h.shape[1:])))) for h in floats]

    def draw_weights(self) -> None:
        """Normal numbers for every floating-point tensor of the reference's model."""
        if scales := self.scales():
            self.theirs.later(play.DrawWeights(self.seed(), tuple(scales)))

    def draw(self, case: Case, *, zeros: bool = False) -> None:
        """The arguments that the case declares. How they lie in memory is known, so nobody waits."""
        self.theirs.later(play.Draw(self.seed(), "zeros" if zeros else "as given", arguments=case.args))
        numbers = itertools.count()
        parts = [
            play.Node(t=next(numbers)) if isinstance(a, Tensor) else play.plain_node(a) for a in case.args
        ]
        forms = tuple(_form(a) for a in case.args if isinstance(a, Tensor))
        self.inputs, self.posed = Inputs(play.Node(l=tuple(parts)), forms), None

    def swap(self) -> None:
        """Two elements of each input change places."""
        self.theirs.later(play.Swap())
        self.inputs, self.posed = Inputs(self.inputs.tree, self.inputs.forms), None


def _form(spec: Tensor) -> InputForm:
    shape, strides, start, elements = inputs.layout(spec)
    return InputForm(shape, strides, spec.dtype, elements, start, spec.device)
