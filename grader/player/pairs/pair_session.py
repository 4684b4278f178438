"""What both sides of a pair do: make the model, hold inputs and outputs, hand out and take in pieces."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from grader.player import model_state, values
from grader.player.pairs.pieces import Flat
from grader.player.tensors import describe, dtype_of, readable

if TYPE_CHECKING:
    from grader.player.stage import Stage


class PairSide:
    """One problem in this process.

    ``inputs`` are the tensors of the call in the order in which they stand in it, ``outputs`` those of its
    result; ``handles`` are the lines that pieces are read from and written to, by [what, key].
    """

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.init: list[torch.Tensor] = []
        self.model: torch.nn.Module | None = None
        self.target: Callable[..., Any] = lambda *_: None
        self.single = False  # whether all inputs are one argument
        self.inputs: list[torch.Tensor] = []
        self.tree: dict[str, Any] = {"l": []}
        self.outputs: list[torch.Tensor] = []
        self.results: list[torch.Tensor] = []  # what a call returned; ``outputs`` may be copies of it
        self.before: list[torch.Tensor] = []
        self.retired: list[torch.Tensor] = []  # kept, so that no address is given out again
        self._flats: dict[tuple[str, str], Flat] = {}

    def built(self, entry: str, init: Any, seed: int, mode: str) -> None:
        """Make the model (or take the function) that is to be called."""
        found = self.stage.entry(entry)
        torch.manual_seed(seed)
        self.retired.clear()
        if not isinstance(found, type):
            self.model, self.target = None, found
            return
        model = model_state.make(found, init)
        if not isinstance(model, torch.nn.Module):
            raise TypeError(f"{entry}(...) is a {type(model).__name__}, not a torch.nn.Module")
        self.model = self.stage.model = model_state.settle(model, self.stage.device, mode)
        self.target = self.model
        self.forget("state")

    def room(self, what: str, facts: list[dict[str, Any]]) -> None:
        """Memory for tensors of these shapes and strides, to be filled by pieces."""
        found = []
        for fact in facts:
            flat = torch.empty(fact["elements"], dtype=dtype_of(fact["dtype"]), device=self._place(what))
            found.append(flat.as_strided(fact["shape"], fact["strides"]))
        setattr(self, what, found)
        self.forget({"inputs": "input", "init": "init"}[what])

    def _place(self, what: str) -> str:
        return self.stage.device if what == "inputs" else "cpu"

    def arguments(self, tensors: list[torch.Tensor] | None = None) -> Any:
        """The inputs in the form that ``get_inputs`` gave them."""
        return values.decode(self.tree, self.inputs if tensors is None else tensors)

    def run(self, target: Callable[..., Any], inputs: Any) -> Any:
        """Call ``target`` with inputs in the form that the problem has for them."""
        return target(inputs) if self.single else model_state.call(target, inputs)

    def forget(self, what: str = "") -> None:
        """Drop the lines of these tensors: they have changed or have gone."""
        self._flats = {k: f for k, f in self._flats.items() if what and k[0] != what}

    def flat(self, what: str, key: Any) -> Flat:
        """The line behind [what, key]."""
        place = (what, str(key))
        if place not in self._flats:
            self._flats[place] = self._made(what, key)
        return self._flats[place]

    def _made(self, what: str, key: Any) -> Flat:
        if what in ("input", "init"):
            return Flat((self.inputs if what == "input" else self.init)[int(key)], storage=True)
        if what == "state":
            assert self.model is not None
            kind, name = key
            return Flat(model_state.state(self.model)[(kind, name)])
        return Flat({"output": self.outputs, "before": self.before}[what][int(key)])

    def kept(self, value: Any, copies: list[torch.Tensor] | None = None) -> dict[str, Any]:
        """Take the result of a call, and copies of its tensors if there are any; what it is, as data."""
        found: list[torch.Tensor] = []
        tree = values.encode(value, found)
        facts = [describe(t)["tensors"][0] for t in found]
        self.results = [real(t) if readable(t) else torch.empty(0) for t in found]
        shown = found if copies is None else copies
        self.outputs = [real(t) if readable(t) else torch.empty(0) for t in shown]
        self.forget("output")
        return {"tree": tree, "tensors": [f | _real(f) for f in facts]}


def real(tensor: torch.Tensor) -> torch.Tensor:
    """A complex tensor as pairs of its parts."""
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def _real(fact: dict[str, Any]) -> dict[str, Any]:
    part = {"complex64": "float32", "complex128": "float64", "complex32": "float16"}.get(fact["dtype"])
    return {"dtype": part, "shape": [*fact["shape"], 2]} if part and fact["plain"] else {}


def mentions_cuda(text: str) -> bool:
    """Whether a reference asks for the GPU by name, so that its words are taken for this machine's CPU."""
    return bool(re.search(r"cuda", text))
