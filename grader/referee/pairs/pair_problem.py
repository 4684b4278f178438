"""One problem played: the reference poses it, the submission is called, every element is compared."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

from grader.domain.task import Case
from grader.domain.verdict import Status
from grader.referee import result_form, state_match
from grader.referee.draw import Drawn
from grader.referee.dtypes import FLOATS, KNOWN, WHOLE, array, size_of
from grader.referee.fault import FaultError
from grader.referee.pairs.pair_spec import PairSpec
from grader.referee.pieces_transport import Line, Side, fetch, move
from grader.referee.sandbox.watcher import memory_limit
from grader.referee.session import Session
from grader.referee.state_match import Held, Table
from grader.referee.transport import Value

BUDGET = 1 << 30  # bytes that float64 answers may take at a time
IN_PARTS = " Return the real and the imaginary part, and join them in forward with torch.complex."
FEW = 64 << 20  # below this much, results and weights are looked at again after every call


@dataclass(slots=True)
class Inputs:
    """What one call gets: the encoded arguments, and each tensor's facts."""

    tree: dict[str, Any]
    facts: list[dict[str, Any]]

    @property
    def lines(self) -> list[Line]:
        """All storage of all tensors."""
        return [
            Line("input", n, f["elements"], f["dtype"], size_of(f["dtype"])) for n, f in enumerate(self.facts)
        ]

    @property
    def nbytes(self) -> int:
        """Bytes of all of them."""
        return sum(line.elements * line.size for line in self.lines)


@dataclass(slots=True)
class Posed:
    """A question with its answer: what the reference returned and how the float64 answers come."""

    leaves: list[result_form.Leaf]
    tensors: list[dict[str, Any]]
    blocks: int
    native: str
    changed: list[int]
    state: list[tuple[str, str]]
    same: bool
    random: str
    ops: list[list[Any]] = field(default_factory=list)
    elements: int = 0

    @property
    def nbytes(self) -> int:
        """Bytes of all results."""
        return sum(_count(t["shape"]) * size_of(t["dtype"]) for t in self.tensors)


class PairProblem:
    """Both sides of a pair. ``open`` and ``enter`` come first, ``pose`` and ``call`` for each round.

    Once it was played, ``ops`` are torch's operators in one call of the reference, as [name, calls, bytes,
    operations of products]; ``result_bytes`` is what it returns, and ``large`` whether that is too much to
    be timed.
    """

    def __init__(self, session: Session, pair: PairSpec) -> None:
        self.session, self.pair, self.rng = session, pair, session.rng
        oracle = session.oracle.player
        limits = oracle.limits
        self.theirs = Side(oracle, functools.partial(self._ask_reference, limits.call))
        self.mode = pair.mode
        self.init: dict[str, Any] = {"l": []}
        self.init_facts: list[dict[str, Any]] = []
        self.wanted: list[Held] = []
        self.training = False
        self.uncompiled = False  # whether torch.compile was left out, as there is no GPU
        self.seeded = False  # whether both sides draw the same random numbers in a call
        self.table: Table | None = None
        self.inputs = Inputs({"l": []}, [])
        self.ops: list[list[Any]] = []
        self.result_bytes, self.large = 0, False
        self._entered: object = None

    @property
    def mine(self) -> Side:
        """The submission's side; its player may be another after a death."""
        assert self.session.player is not None
        return Side(self.session.player, self._ask_subject)

    def _ask_reference(self, seconds: float, step: str, **fields: Any) -> dict[str, Any]:
        try:
            return self.theirs.player.ask(
                "command", seconds, command="pair", side="reference", step=step, **fields
            ).data
        except FaultError as fault:
            status = Status.OUT_OF_MEMORY if fault.status is Status.OUT_OF_MEMORY else Status.NOT_GRADABLE
            message = f"The reference itself failed: {fault.message}"
            raise FaultError(status, message, reference=True, **fault.evidence) from fault

    def _ask_subject(self, step: str, **fields: Any) -> dict[str, Any]:
        return self.session.ask("command", command="pair", side="subject", step=step, **fields).data

    def seed(self) -> int:
        """A seed that the submission could not have known."""
        return int(self.rng.integers(1 << 62))

    def open(self) -> None:
        """Construct the reference, and learn what it holds."""
        pair = self.pair
        said = self.theirs.ask(
            "begin", entry=pair.reference_entry, seed=self.seed(), mode=self.mode, specs=list(pair.specs)
        )
        _passable(said["others"], "get_init_inputs()")
        self.init, self.init_facts = said["init"], said["facts"]
        self.wanted, self.training = state_match.read(said["state"]), said["training"]

    def beside(self, other: Session) -> PairProblem:
        """The same problem for another pair of processes; the reference's model is made there."""
        made = PairProblem(other, self.pair)
        made.mode = self.mode
        made.open()
        return made

    def construct(self, case: Case) -> None:
        """Both models are there; a player that was started anew gets its own."""
        self.enter()

    def new_weights(self, how: str = "write") -> None:
        """The same new weights for both."""
        self.weights(how)

    def arguments(self, case: Case) -> list[Value]:
        """Inputs as given for one call, as a race passes them on: a flat list."""
        self.draw("as given")
        ((kind, parts),) = self.inputs.tree.items()
        if kind not in ("l", "u") or any(next(iter(p)) not in ("t", "v", "f") for p in parts):
            raise FaultError(Status.NOT_GRADABLE, "Only calls with a flat list of arguments are timed.")
        args: list[Value] = []
        for part in parts:
            ((kind, inside),) = part.items()
            if kind == "t":
                args.append(self._drawn(inside))
            else:
                args.append(float(inside) if kind == "f" else inside)
        return args

    def _drawn(self, number: int) -> Drawn:
        fact = self.inputs.facts[number]
        dtype = fact["dtype"]
        if dtype not in (*FLOATS, *WHOLE):
            raise FaultError(Status.NOT_GRADABLE, f"Calls with {dtype} are not timed yet.")
        line = Line("input", number, fact["elements"], dtype, size_of(dtype))
        (data,) = fetch(self.theirs, [(line, 0, line.elements)])
        return Drawn(array(data, dtype), tuple(fact["shape"]), tuple(fact["strides"]), 0, "cuda")

    def enter(self) -> None:
        """Construct the submission's model, and match the two."""
        pair = self.pair
        if self._entered is self.session.player:
            return
        if self.init_facts:
            self.mine.ask("room", what="init", facts=self.init_facts)
            lines = [
                Line("init", n, f["elements"], f["dtype"], f["size"]) for n, f in enumerate(self.init_facts)
            ]
            move(self.theirs, self.mine, [(line, line) for line in lines])
        said = self.mine.ask(
            "make",
            entry=pair.entry,
            init=self.init,
            seed=self.seed() >> 30,
            mode=self.mode,
            single=bool(pair.specs),
        )
        self.uncompiled = said.get("uncompiled") is True
        self.table = state_match.match(self.wanted, state_match.read(said.get("state")), pair.entry)
        self._entered = self.session.player

    def evaluate(self) -> None:
        """From now on both are in evaluation mode."""
        self.mode, self.training = "eval", False

    def weights(self, how: str) -> None:
        """New weights for both: ``how`` they reach the submission's model, "write" or "replace"."""
        if not self.wanted:
            return
        pairs = self.table.pairs if self.table else []
        names = [] if self.pair.as_given else [theirs.name for theirs, _ in pairs]
        self.theirs.ask("weights", seed=self.seed(), names=names, mode=self.mode)
        if how == "replace" and pairs:
            movable = [list(own.key) for _, own in pairs if own.kind != "attribute"]
            self.mine.ask("move", names=movable)
        self.hand_over()

    def hand_over(self, only: set[tuple[str, str]] | None = None) -> None:
        """The reference's state, or those tensors of it, to the submission's model."""
        pairs = self.table.pairs if self.table else []
        lines = [(a.line, b.line) for a, b in pairs if only is None or a.key in only]
        if lines:
            move(self.theirs, self.mine, lines)

    def draw(self, variant: str, spec: int = 0) -> bool:
        """New inputs at the reference; False if ``variant`` changes nothing of this problem's."""
        said = self.theirs.ask("draw", seed=self.seed() >> 1, variant=variant, spec=spec)
        if not said["applies"]:
            return False
        name = "generate_input()" if self.pair.specs else "get_inputs()"
        _passable(said["others"], name)
        strange = sorted({f["dtype"] for f in said["facts"]} - set(KNOWN))
        if strange:
            what = f"{name} returns tensors of {strange[0]}, which cannot be passed on yet."
            help_ = IN_PARTS if strange[0].startswith("complex") else ""
            raise FaultError(Status.NOT_GRADABLE, what + help_)
        self.inputs = Inputs(said["tree"], said["facts"])
        return True

    def give(self, fresh: bool) -> None:
        """The inputs to the submission's player, in new memory or where the last ones lie."""
        self.mine.ask("take", tree=self.inputs.tree, facts=self.inputs.facts, fresh=fresh)
        move(self.theirs, self.mine, [(line, line) for line in self.inputs.lines])

    def pose(self, seed: int, weigh: bool = False) -> Posed:
        """The reference's results for the inputs as they are."""
        limit = self.theirs.player.limits.memory_bytes or memory_limit()
        said = self.theirs.ask(
            "answer", seed=seed, budget=self.pair.budget or BUDGET, weigh=weigh, room=limit // 2,
            native=self.seeded,
        )  # fmt: skip
        found = result_form.leaves(said["tree"])
        for fact in said["tensors"]:
            if fact["dtype"] not in KNOWN:
                raise FaultError(
                    Status.NOT_GRADABLE,
                    f"The reference returns a tensor of {fact['dtype']}, which cannot be compared yet.",
                )
        return Posed(
            found, said["tensors"], said["blocks"], said["native"], said["changed"],
            [(kind, name) for kind, name in said["state"]], said["same"], said["random"], said["ops"],
            said["elements"],
        )  # fmt: skip

    def call(self, how: str, seed: int, keep: bool) -> dict[str, Any]:
        """Call the submission."""
        return self.mine.ask("call", how=how, seed=seed, keep=keep)


def _count(shape: list[int]) -> int:
    n = 1
    for size in shape:
        n *= size
    return n


def _passable(others: list[str], name: str) -> None:
    if others:
        raise FaultError(
            Status.NOT_GRADABLE,
            f"{name} of the reference returns a {others[0]}; tensors, numbers, strings, and lists, tuples "
            "and dicts of them can be passed on.",
        )
