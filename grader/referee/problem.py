"""A problem as both sides of a session get it: one model, weights, inputs, and the reference's answers.

Where tensors lie and who draws them is decided here and nowhere else: inputs and weights are drawn in the
reference's process and moved to the submission's; answers stay with the reference, and come to the referee as
they are compared (:mod:`grader.referee.comparison`). A lesson's cases, a KernelBench pair and the tests of a
``task.yml`` differ in what they ask the reference to draw, and in how often they have the submission called.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from grader.domain.inputs import Drawn
from grader.domain.verdict import Finding, Status
from grader.protocol import play
from grader.protocol.play import Answered, InputForm, Key, Made, Node, ResultForm, Returned
from grader.referee import result_form, state_match
from grader.referee.dtypes import FLOATS, KNOWN, WHOLE, array, size_of
from grader.referee.fault import FaultError
from grader.referee.sandbox.watcher import memory_limit
from grader.referee.transfer import Line, fetch, input_lines, move, send, whole

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from grader.domain.task import Case, Task
    from grader.referee.rounds import Round
    from grader.referee.side import Reference, Side
    from grader.referee.state_match import Held, Table

FEW = 64 << 20  # below this much, tensors are copied to the referee as a whole, and looked at again later on
BUDGET = 1 << 30  # bytes that float64 answers may take at a time
ENOUGH = 16  # elements of a result of which one value throughout says little
Array = NDArray[np.generic]
Value = Drawn | int | float | str | bool | None
IN_PARTS = " Return the real and the imaginary part, and join them in forward with torch.complex."


class Sides(Protocol):
    """What a problem needs of a session."""

    task: Task
    reference: Reference
    rng: np.random.Generator

    @property
    def submission(self) -> Side:
        """The submission's side; after a death its player is another one."""


class LeftOutError(Exception):
    """A case that this problem cannot be asked; the text says why."""


@dataclass(slots=True)
class Inputs:
    """What one call gets: the arguments as data, and how each tensor among them lies in memory.

    ``data``: the bytes of each, if they are few.
    """

    tree: Node = play.EMPTY
    forms: tuple[InputForm, ...] = ()
    data: list[bytes] = field(default_factory=list)

    @property
    def lines(self) -> list[Line]:
        """All storage of all tensors."""
        return input_lines(self.forms)

    @property
    def nbytes(self) -> int:
        """Bytes of all of them."""
        return sum(line.nbytes for line in self.lines)

    def arrays(self) -> tuple[Array, ...]:
        """The tensors as the call saw them, if their bytes are here; bfloat16 as float32."""
        return tuple(_drawn(f, d).view() for f, d in zip(self.forms, self.data, strict=False))


@dataclass(slots=True)
class Posed:
    """A question with its answer: what the reference returned, and how the float64 answers come."""

    answered: Answered
    leaves: list[result_form.Leaf]
    data: dict[Line, bytes] = field(default_factory=dict)  # of results and answers, if they are few

    @property
    def tensors(self) -> tuple[ResultForm, ...]:
        """The tensors of the result."""
        return self.answered.tensors

    @property
    def sizes(self) -> tuple[int, ...]:
        """Elements of each."""
        return tuple(math.prod(t.shape) for t in self.tensors)

    @property
    def nbytes(self) -> int:
        """Bytes of all."""
        return sum(math.prod(t.shape) * size_of(t.dtype) for t in self.tensors)

    @property
    def says_little(self) -> bool:
        """Whether every result of some size is one value throughout, as when ReLU cuts off everything.

        A constant would be right by chance, so such a call is drawn again.
        """
        large = [t for t in self.tensors if math.prod(t.shape) >= ENOUGH]
        return bool(large) and all(t.constant for t in large)

    def output(self, number: int) -> Line:
        """The elements of a result, on either side."""
        return Line("output", number, self.sizes[number], self.tensors[number].dtype)

    @property
    def lines(self) -> list[Line]:
        """The reference's results, and the float64 answers if they come in one block."""
        results = [self.output(number) for number in range(len(self.tensors))]
        if self.answered.blocks != 1:
            return results
        each = enumerate(zip(self.sizes, self.answered.dtypes, strict=True))
        return results + [Line("answer", number, size, dtype) for number, (size, dtype) in each]


class Compared(Protocol):
    """One call's results against its answers, see :mod:`grader.referee.comparison`."""

    posed: Posed
    zeros_pass: bool
    slack: float
    results: list[bytes]

    def run(self, returned: Returned) -> Finding | None:
        """The first thing that is wrong, or None."""

    def agrees(self, returned: Returned) -> bool:
        """Whether the result is right."""

    def by_own_check(self, returned: Returned) -> Finding | None:
        """What the problem's own check says."""

    def excused(self) -> bool:
        """Whether rounding may explain what is wrong."""


class Problem:
    """The base of all problems; what is not the same for all of them is overridden.

    Attributes:
        sides: The session.
        inputs: Those of the last call.
        table: Which tensor of the submission's model is which of the reference's.
        draws: How often a call is drawn, at most, whose answers are one value throughout.
        seeded: Both sides draw the same random numbers in a call.
        training: Both models are in training mode.
    """

    draws = 1
    budget = BUDGET

    def __init__(self, sides: Sides) -> None:
        self.sides, self.rng = sides, sides.rng
        self.inputs = Inputs()
        self.table: Table | None = None
        self.seeded = False
        self.training = False
        self.posed: Posed | None = None  # the question that these inputs are, once it is answered
        self.call_seed = 0  # of random numbers that a call draws, the same on both sides
        self._held: dict[Key, bytes] = {}

    # What the sources of problems differ in.

    def open(self) -> None:
        """Load the reference, and find out what can be known before the first case."""
        self.sides.reference.load()

    def findings(self) -> list[Finding]:
        """What is said of the problem itself, before the findings of its cases."""
        return []

    def memory(self) -> Finding | None:
        """What is said of memory if it could not be checked."""

    def refusal(self, case: Case, before: list[Finding]) -> Finding | None:
        """Why the case is not played, after these; None if it is."""

    def rounds(self, case: Case) -> Iterator[tuple[Round, bool]]:
        """The calls of a case; and whether it is the one that is watched, which nobody can foresee."""
        raise NotImplementedError

    def construct(self, case: Case) -> None:
        """Have both sides make what is to be called, unless it is there."""
        raise NotImplementedError

    def draw_weights(self) -> None:
        """Give the reference's model new weights."""
        raise NotImplementedError

    def draw(self, case: Case, *, zeros: bool = False) -> None:
        """New inputs at the reference; LeftOutError if that cannot be. ``zeros`` in place of their values."""
        raise NotImplementedError

    def beside(self, other: Sides) -> Problem:
        """The same problem for another pair of processes with the same two files."""
        return type(self)(other)

    @property
    def depth(self) -> float:
        """How many terms a result is reckoned to be a sum of, where that is not known: 0 if it is.

        torch on a CPU sums some things more exactly than an honest kernel can.
        """
        return 0.0

    @property
    def has_weights(self) -> bool:
        """Whether the reference has weights that are drawn anew."""
        return bool(self.pairs)

    @property
    def pure(self) -> bool:
        """Whether a call must leave its inputs as they are, and return memory of its own."""
        return True

    @property
    def looks_at_state(self) -> bool:
        """Whether the models' states are compared after a call."""
        return True

    def judged(self, comparison: Compared, returned: Returned) -> Finding | None:
        """What is wrong with a result, or None."""
        return comparison.run(returned)

    def agreed(self, comparison: Compared, returned: Returned) -> bool:
        """Whether a result is right."""
        return comparison.agrees(returned)

    def shows_streams(self, case: Case, backend: str) -> bool:
        """Whether it is looked at, with this case and on this back end, which stream the work goes to."""
        raise NotImplementedError

    def played(self, case: Case, number: int, one: Round, comparison: Compared) -> None:
        """One call was compared, the ``number``th of its case."""

    def excuse(self, case: Case, failed: Finding, comparison: Compared) -> str | None:
        """Why what is wrong is no fault of the submission's, or None."""

    def fallen(self, case: Case, fault: FaultError) -> None:
        """A fault ended the case; LeftOutError where it is the problem's own."""

    # What is the same for all.

    @property
    def mine(self) -> Side:
        """The submission's side."""
        return self.sides.submission

    @property
    def theirs(self) -> Side:
        """The reference's side."""
        return self.sides.reference

    @property
    def nbytes(self) -> int:
        """Bytes of the last call's inputs and results."""
        return self.inputs.nbytes + (self.posed.nbytes if self.posed else 0)

    def seed(self) -> int:
        """A seed that the submission could not have known."""
        return int(self.rng.integers(1 << 62))

    @property
    def pairs(self) -> list[tuple[Held, Held]]:
        """Tensors of the two models that belong together, the reference's first."""
        return self.table.pairs if self.table else []

    def match(self, wanted: list[Held], made: Made, entry: str) -> None:
        """Find out which tensor is which; a parameter without a partner is a fault."""
        self.table = state_match.match(wanted, state_match.read(made.state), entry)
        self._held = {}

    def new_weights(self, how: str = "write") -> None:
        """Give both sides the same new weights.

        ``how`` they reach the submission's model: "write" in place, "replace" its memory by new memory, or
        "move" the same values there.
        """
        if how != "move":
            self.draw_weights()
        movable = tuple(own.key for _, own in self.pairs if own.kind != "attribute")
        if how != "write" and movable:
            self.mine.later(play.Move(movable))
        self.hand_over()

    def hand_over(self, only: Collection[Key] | None = None) -> None:
        """The reference's state, or those tensors of it, to the submission's model."""
        pairs = [(a, b) for a, b in self.pairs if only is None or a.key in only]
        lines = [(a.line, b.line) for a, b in pairs]
        if sum(line.nbytes for line, _ in lines) > FEW:
            self.forget(a.key for a, _ in pairs)
            move(self.theirs, self.mine, lines)
        elif lines:
            data = fetch(self.theirs, whole([line for line, _ in lines]))
            self._held |= {a.key: d for (a, _), d in zip(pairs, data, strict=True)}
            sent = zip(lines, data, strict=True)
            send(self.mine, [(replace(own, dtype=theirs.dtype), d) for (theirs, own), d in sent])

    def forget(self, keys: Collection[Key] | Iterator[Key]) -> None:
        """The reference has changed these tensors of its model, or nobody has their bytes here."""
        for key in keys:
            self._held.pop(key, None)

    def held(self, key: Key) -> bytes | None:
        """What the submission's model was given for a tensor of the reference's, if it is known here."""
        return self._held.get(key)

    def drawn(self, step: play.Draw | play.Swap, name: str = "the reference") -> bool:
        """New inputs at the reference; False if they are as they were. FaultError for what cannot travel."""
        said = self.theirs.ask(step, play.Inputs)
        if not said.applies:
            return False
        require_passable(said.tree, name)
        strange = sorted({f.dtype for f in said.forms} - set(KNOWN))
        if strange:
            what = f"{name} returns tensors of {strange[0]}, which cannot be passed on yet."
            help_ = IN_PARTS if strange[0].startswith("complex") else ""
            raise FaultError(Status.NOT_GRADABLE, what + help_)
        self.inputs, self.posed = Inputs(said.tree, said.forms), None
        return True

    def swap(self) -> None:
        """Two elements of each input change places."""
        self.drawn(play.Swap())

    def pose(self, *, weigh: bool = False) -> Posed:
        """The reference's results for the inputs as they are."""
        limit, self.call_seed = self.theirs.player.limits.memory_bytes or memory_limit(), self.seed()
        step = play.Answer(self.call_seed, self.budget, limit // 2, native=self.seeded, weigh=weigh)
        said = self.theirs.ask(step, Answered)
        for tensor in said.tensors:
            if tensor.dtype not in KNOWN:
                raise FaultError(
                    Status.NOT_GRADABLE,
                    f"The reference returns a tensor of {tensor.dtype}, which cannot be compared yet.",
                )
        self.posed = Posed(said, result_form.leaves(said.tree))
        return self.posed

    def give(self, *, fresh: bool) -> None:
        """The inputs to the submission's player, in new memory or where the last ones lie."""
        inputs, lines, posed = self.inputs, self.inputs.lines, self.posed
        results = posed.lines if posed and not posed.data else []
        if inputs.nbytes <= FEW and not inputs.data:
            few = sum(line.nbytes for line in results) <= FEW
            found = fetch(self.theirs, whole([*lines, *(results if few else [])]))
            inputs.data = found[: len(lines)]
            if posed and few:
                posed.data |= dict(zip(results, found[len(lines) :], strict=True))
        self.mine.later(play.Take(inputs.tree, inputs.forms, fresh))
        if inputs.nbytes <= FEW:
            send(self.mine, list(zip(lines, inputs.data, strict=True)))
        else:
            move(self.theirs, self.mine, [(line, line) for line in lines])

    def arguments(self, case: Case) -> list[Value]:
        """Inputs for one call, drawn now, as a race passes them on: a flat list."""
        self.draw(case)
        parts = self.inputs.tree.parts
        if self.inputs.tree.kind not in ("l", "u") or any(p.kind not in ("t", "v", "f") for p in parts):
            raise FaultError(Status.NOT_GRADABLE, "Only calls with a flat list of arguments are timed.")
        for form in self.inputs.forms:
            if form.dtype not in (*FLOATS, *WHOLE):
                raise FaultError(Status.NOT_GRADABLE, f"Calls with {form.dtype} are not timed yet.")
        tensors: list[Value] = [
            _drawn(form, *fetch(self.theirs, whole([line])))
            for form, line in zip(self.inputs.forms, self.inputs.lines, strict=True)
        ]
        return [_plain(part, tensors) for part in parts]


def require_passable(tree: Node, name: str) -> None:
    """A FaultError if something in a value cannot travel."""
    if others := _others(tree):
        raise FaultError(
            Status.NOT_GRADABLE,
            f"{name} of the reference returns a {others[0]}; tensors, numbers, strings, and lists, tuples "
            "and dicts of them can be passed on.",
        )


def _others(node: Node) -> list[str]:
    """The types in a value that cannot travel."""
    if node.kind == "o":
        return [str(node.o)]
    return [name for part in node.parts for name in _others(part)]


def _drawn(form: InputForm, data: bytes) -> Drawn:
    return Drawn(array(data, form.dtype), form.shape, form.strides, form.start, form.device)


def _plain(part: Node, tensors: list[Value]) -> Value:
    if isinstance(part.t, int):
        return tensors[part.t]
    return float(part.f) if isinstance(part.f, str) else part.v  # type: ignore[return-value]
