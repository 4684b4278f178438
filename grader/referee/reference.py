"""The answers: a reference in its own player, in float64 for what is right, in float32 for what is fair."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.domain.task import Case, Task
from grader.domain.verdict import Status
from grader.referee import state_match, transport
from grader.referee.draw import Drawn, weights
from grader.referee.dtypes import is_float
from grader.referee.fault import FaultError
from grader.referee.process.player_process import Player
from grader.referee.state_match import Held

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Expected:
    """What a call must return: tensors (``answers`` in float64, the framework's ``eager``) or a value."""

    answers: tuple[Array, ...] = ()
    eager: tuple[Array, ...] = ()
    container: str = "tensor"
    value: Any = None
    is_value: bool = False

    @property
    def says_little(self) -> bool:
        """Whether every output of some size is one value throughout, as when ReLU cuts off everything.

        A constant would be right by chance, so such a call is drawn again.
        """
        large = [e for e in self.eager if e.size >= 16]
        return bool(large) and all((e == e.reshape(-1)[0]).all() for e in large)

    @property
    def outputs(self) -> list[tuple[tuple[int, ...], str]]:
        """Shape and dtype of each tensor."""
        return [(a.shape, str(a.dtype)) for a in self.eager]


class Oracle:
    """Asks the reference's player. What it is told, the submission's player never sees."""

    def __init__(self, player: Player, task: Task) -> None:
        self.player, self.task, self.limits = player, task, player.limits
        self.state: list[Held] = []

    def load(self, path: str) -> None:
        """Import the reference file."""
        self._ask("load", self.limits.load, path=path)

    def construct(self, init: list[Any], *, there: bool = False) -> None:
        """Make the reference model with these constructor arguments and learn what parameters it has.

        ``there``: its parameters are made on the GPU, not moved to it.
        """
        entry = self.task.reference_entry or self.task.entry
        answer = self._ask("construct", self.limits.call, entry=entry, init=init, there=there)
        self.state = state_match.read(answer["state"], plain=False)

    def new_weights(self, rng: np.random.Generator) -> list[tuple[str, Drawn]]:
        """Draw values for every floating-point parameter and give them to the reference."""
        drawn = [(h.name, weights(h.shape, h.dtype, rng)) for h in self.state if is_float(h.dtype)]
        slots = transport.pack(self.player, [d for _, d in drawn])
        state = [[name, slot.as_json()] for (name, _), slot in zip(drawn, slots, strict=True)]
        self._ask("set_state", self.limits.call, state=state)
        return drawn

    def draw_weights(self, seed: int) -> list[tuple[str, str, float]]:
        """Have the reference draw its own weights on the spot; what another player needs to draw the same."""
        floats = [h for h in self.state if is_float(h.dtype)]
        sheet = [(h.name, h.dtype, 1 / math.sqrt(max(1, math.prod(h.shape[1:])))) for h in floats]
        self._ask("draw_state", self.limits.call, seed=seed, state=sheet)
        return sheet

    def expect(self, case: Case, args: list[transport.Value], like: Expected | None = None) -> Expected:
        """The answers for one call. ``like`` an earlier call of the same shapes: saves asking for them."""
        entry = case.entry or self.task.entry
        if like and like.eager:
            doubles = [(a.shape, str(a.dtype)) for a in like.answers]
            answers = self._call(entry, args, doubles, double=True)
            return Expected(tuple(answers), tuple(self._call(entry, args, like.outputs)), like.container)
        fields, _, _ = transport.offer(self.player, args, [])
        fields["after"] = []  # a reference is trusted with its inputs
        facts = self._ask("call", self.limits.call, entry=entry, double=True, **fields)
        if facts["kind"] == "value":
            value = float(facts["value"]) if facts.get("float") else facts["value"]
            return Expected(value=value, is_value=True)
        answers = self._fetch(facts)
        facts = self._ask("call", self.limits.call, entry=entry, **fields)
        return Expected(tuple(answers), tuple(self._fetch(facts)), str(facts["container"]))

    def _call(
        self,
        entry: str,
        args: list[transport.Value],
        outputs: list[tuple[tuple[int, ...], str]],
        double: bool = False,
    ) -> list[Array]:
        fields, wanted, _ = transport.offer(self.player, args, outputs)
        fields["after"] = []
        self._ask("call", self.limits.call, entry=entry, double=double, **fields)
        return transport.collect(self.player, wanted)

    def _fetch(self, facts: dict[str, Any]) -> list[Array]:
        outputs = [(tuple(t["shape"]), str(t["dtype"])) for t in facts["tensors"]]
        fields, wanted, _ = transport.offer(self.player, [], outputs)
        self._ask("fetch", self.limits.call, out=fields["out"])
        return transport.collect(self.player, wanted)

    def _ask(self, do: str, seconds: float, **fields: Any) -> dict[str, Any]:
        try:
            return self.player.ask(do, seconds, **fields).data
        except FaultError as fault:
            message = f"The reference itself failed: {fault.message}"
            raise FaultError(Status.NOT_GRADABLE, message, **fault.evidence) from fault
