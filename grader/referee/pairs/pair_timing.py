"""The speed of a pair that passed: raced on a GPU, else predicted from what was counted on both sides."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from grader.domain import gpu_card
from grader.domain.task import Case, Speed
from grader.domain.verdict import Status
from grader.referee.draw import Drawn
from grader.referee.fault import FaultError
from grader.referee.pairs.dtypes import FLOATS, WHOLE, array, size_of
from grader.referee.pairs.flow import Line, fetch
from grader.referee.pairs.problem_sides import Game
from grader.referee.predict import call as predict
from grader.referee.predict import operator_times
from grader.referee.timing import speed
from grader.referee.transport import Value

if TYPE_CHECKING:
    from grader.referee.pairs.play import Play
    from grader.referee.session import Match

CASE = Case("speed", (), "", 0, given=True)
MOST = 1 << 30  # bytes of inputs and results that are raced
METHOD = (
    "the file's own launches each from what simt counted; for torch's operators on both sides the bytes of "
    "their tensors at a large copy's speed, products at the card's fp32 rate, and a launch each"
)


def of(match: Match, baselines: tuple[str, ...] = (), card: str = gpu_card.DEFAULT) -> dict[str, Any] | None:
    """The verdict's ``speed``; ``card``: predicted for without a GPU."""
    play: Play = match.kept["pair"]
    if match.player is not None and match.player.backend == "cuda":
        return _raced(match, play, baselines)
    return _predicted(match, play, card)


def prepared(match: Match, play: Play) -> tuple[Racer, Speed]:
    """What :mod:`grader.referee.timing` needs of a match: inputs, weights, and how large the call is."""
    if play.pair.specs or play.large:
        raise FaultError(Status.NOT_GRADABLE, "Only pairs below a gibibyte of tensors are timed.")
    moved = play.game.inputs.nbytes, play.result_bytes
    # A call need not read all of its inputs, nor write what is a view; of the smaller no one gets around.
    least = 2 * min(moved)
    eager = sum(entry[2] for entry in play.ops)
    return Racer(match, play.game), Speed(CASE, CASE, eager, least, max(1, least))


def _raced(match: Match, play: Play, baselines: tuple[str, ...]) -> dict[str, Any] | None:
    try:
        racer, what = prepared(match, play)
    except FaultError as fault:
        return {"kind": "none", "why": fault.message}
    return speed.of(racer, replace(match.task, speed=what), "cuda", baselines)  # type: ignore[arg-type]


class Racer:
    """A match as the race sees it, whose inputs and weights are the pair's."""

    def __init__(self, match: Match, game: Game) -> None:
        self._match, self._game = match, game

    def __getattr__(self, name: str) -> Any:
        return getattr(self._match, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        else:
            setattr(self._match, name, value)

    @property
    def twin(self) -> Callable[[], Racer] | None:
        """Another pair of processes with the same two files and models."""
        make = self._match.twin
        return None if make is None else lambda: Racer.beside(make(), self._game)

    @classmethod
    def beside(cls, match: Match, like: Game) -> Racer:
        """A match whose files are loaded, as the race sees it; both models are made as in ``like``."""
        game = Game(match, like.pair)
        game.mode = like.mode
        game.open()
        return cls(match, game)

    def construct(self, case: Case, *, at_once: bool = False) -> None:
        """Both models are there; a player that was started anew gets its own."""
        self._game.enter()

    def new_weights(self, how: str = "write") -> None:
        """The same new weights for both."""
        self._game.weights(how)

    def arguments(self, case: Case) -> list[Value]:
        """The inputs of one call, as the race passes them on: a flat list."""
        game = self._game
        game.draw("as given")
        ((kind, parts),) = game.inputs.tree.items()
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
        fact = self._game.inputs.facts[number]
        dtype = fact["dtype"]
        if dtype not in (*FLOATS, *WHOLE):
            raise FaultError(Status.NOT_GRADABLE, f"Calls with {dtype} are not timed yet.")
        line = Line("input", number, fact["elements"], dtype, size_of(dtype))
        (data,) = fetch(self._game.theirs, [(line, 0, line.elements)])
        return Drawn(array(data, dtype), tuple(fact["shape"]), tuple(fact["strides"]), 0, "cuda")


def _predicted(match: Match, play: Play, card_name: str) -> dict[str, Any] | None:
    """Both sides by the same rule, from counts; never a measurement."""
    counted = count(match, play)
    card = gpu_card.card(card_name)
    launches, ops = counted["launches"], counted["ops"]
    kernels = predict.predicted(launches, card)
    if launches and kernels.why_not:
        return {"kind": "none", "why": f"no prediction for {card.name}: {kernels.why_not}."}
    own = kernels.seconds + operator_seconds(card, ops)
    eager = operator_seconds(card, play.ops)
    if not own or not eager:
        return None
    return {
        "kind": "predicted",
        "device": card.name,
        "method": METHOD,
        "counted_bytes": sum(_moved(x) for x in launches) + sum(entry[2] for entry in ops),
        "launches": len(launches) + sum(entry[1] for entry in ops),
        "kernel_seconds": own,
        "eager_kernel_seconds": eager,
        "kernel_ratio": eager / own,
        "whole_ratio": eager / own,
        "limits": list(kernels.limits),
    }


def count(match: Match, play: Play) -> dict[str, Any]:
    """One call with counting on: ``launches`` of the file's kernels, ``ops`` of torch's operators."""
    game = play.game
    match.revive()
    game.enter()
    game.draw("as given")
    game.give(fresh=True)
    match.ask("count", on=True)
    try:
        answer = match.ask(
            "act", act="pair", side="subject", step="call", how="new", seed=0, keep=False, weigh=True
        )
    finally:
        match.ask("count", on=False)
    ops = answer.data.get("ops")
    return {"launches": answer.launches, "ops": [o for o in ops if _op(o)] if isinstance(ops, list) else []}


def operator_seconds(card: gpu_card.Card, ops: list[list[Any]]) -> float:
    """For torch's operators: [name, calls, bytes, operations of products] each."""
    return math.fsum(
        max(
            operator_times.elementwise(moved, calls, card),
            calls * operator_times.product(flops / max(1, calls), card)
            + operator_times.elementwise(0, calls, card),
        )
        for _, calls, moved, flops in ops
    )


def _moved(launch: dict[str, Any]) -> int:
    counts = launch.get("counts") or {}
    return int(counts.get("read_bytes", 0)) + int(counts.get("written_bytes", 0))


def _op(entry: Any) -> bool:
    if not isinstance(entry, list) or len(entry) != 4 or not isinstance(entry[0], str):
        return False
    return all(type(n) is int and 0 <= n < math.inf for n in entry[1:])
