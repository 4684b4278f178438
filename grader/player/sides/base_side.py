"""What both sides of a call do: make the model, hold inputs and outputs, hand out and take in pieces."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING, Any

import msgspec
import torch
from torch.autograd.graph import _engine_run_backward

from grader.player import model_state, python_hooks, torch_modes, values
from grader.player.device_arena import DeviceArena
from grader.player.sides.pieces import Flat
from grader.player.tensors import dtype_of, form_of, readable
from grader.protocol import play

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.player.sides.weigh import Weigher
    from grader.player.stage import Stage
    from grader.protocol.play import InputForm, Node, ResultForm, Step

MOST_BETWEEN = 8  # calls between one and its gradients
# What pieces of these tensors are called.
LINES = {"inputs": "input", "init": "init", "sets": "set", "claimed": "claimed"}
PARTS = {"complex64": "float32", "complex128": "float64", "complex32": "float16"}


class BaseSide:
    """One problem in this process.

    ``inputs`` are the tensors of the call in the order in which they stand in it, ``outputs`` those of its
    result, ``sets`` those of all timed calls, ``claimed`` what the other side is said to hold. A subclass has
    a method for each step of its side, by name.
    """

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.init: list[torch.Tensor] = []
        self.model: torch.nn.Module | None = None
        self.target: Callable[..., Any] = lambda *_: None
        self.single = False  # whether all inputs are one argument
        self.gradients = False  # whether the last input is a gradient, and gradients are results
        # Calls between one and its gradients: drawn once, as calls are held against each other.
        self.between = 2 + secrets.randbelow(MOST_BETWEEN - 1)
        self.attributes = True  # whether plain attributes belong to the model's state
        self.inputs: list[torch.Tensor] = []
        self.sets: list[torch.Tensor] = []
        self.claimed: list[torch.Tensor] = []
        self.tree: Node = play.EMPTY
        self.outputs: list[torch.Tensor] = []
        self.results: list[torch.Tensor] = []  # what a call returned; ``outputs`` may be copies of it
        self.before: list[torch.Tensor] = []
        self.retired: list[torch.Tensor] = []  # kept, so that no address is given out again
        self._flats: dict[tuple[str, str], Flat] = {}
        # Looked up once for all pieces of a step: a large model has hundreds of tensors.
        self._state: dict[play.Key, torch.Tensor] = {}

    def perform(self, step: Step) -> msgspec.Struct:
        """Do one step; what it answers."""
        name = play.name_of(step)
        done = getattr(self, name, None)
        if done is None:
            raise ValueError(f"there is no step {name!r} on this side")
        self._state = {}
        return done(step) or play.Done()

    def read(self, step: play.Read) -> None:
        """Write pieces into the outbox, or into memory of the device."""
        arena = self._shared(step.there) or self.stage.outbox
        for piece in step.pieces:
            self._flat(piece.what, piece.key).read(arena, piece)
        self._settled(step.there)

    def write(self, step: play.Write) -> None:
        """Take pieces from the inbox, or from memory of the device."""
        arena = self._shared(step.there) or self.stage.inbox
        for piece in step.pieces:
            self._flat(piece.what, piece.key).write(arena, piece)
        self._settled(step.there)

    def share(self, step: play.Share) -> None:
        """Share memory of the device with another player: make it, or open what came with the request."""
        stage = self.stage
        if before := stage.shared.pop(step.number, None):
            before.close()
        arena = stage.shared[step.number] = DeviceArena(
            stage.memory, step.nbytes, stage.given.pop() if step.open else -1
        )
        if step.open:
            os.close(arena.file)
        else:
            stage.passing.append(arena.file)

    def _shared(self, number: int) -> DeviceArena | None:
        return self.stage.shared[number] if number else None

    def _settled(self, number: int) -> None:
        """What was copied on a device is there before it is said so."""
        if number:
            self.stage.synchronize()

    def room(self, step: play.Room) -> None:
        """Memory for tensors of these forms, to be filled by pieces."""
        setattr(self, step.what, [self._empty(form, step.what) for form in step.forms])
        self.forget(LINES[step.what])

    def _empty(self, form: InputForm, what: str) -> torch.Tensor:
        there = what != "init" and form.device == "cuda"
        device = self.stage.device if there else "cpu"
        flat = torch.empty(form.elements, dtype=dtype_of(form.dtype), device=device)
        return flat.as_strided(form.shape, form.strides, form.start)

    def draw_weights(self, step: play.DrawWeights) -> None:
        """Give tensors of the state values from a seed, so that large models need not be sent."""
        assert self.model is not None
        own, device = model_state.state(self.model), torch.device(self.stage.device)
        source = torch.Generator(device).manual_seed(step.seed)
        with torch.no_grad():
            for key, scale in step.scales:
                # Row by row whatever the tensor's own layout, so that all players agree.
                drawn = torch.randn(own[key].shape, generator=source, device=device)
                own[key].copy_((drawn * scale).to(own[key].dtype))
        self.forget("state")

    def built(self, entry: str, init: Any, seed: int, mode: str, kind: str) -> None:
        """Make the model (or take the function) that is to be called; ``kind`` "": whichever it is."""
        found = self.stage.entry(entry)
        self.stage.seed(seed)
        self.retired.clear()
        self.forget("state")
        if kind == "function" or not (kind or isinstance(found, type)):
            self.model, self.target = None, found
            return
        model = model_state.make(found, init)
        if not isinstance(model, torch.nn.Module):
            raise TypeError(f"{entry}(...) is a {type(model).__name__}, not a torch.nn.Module")
        self.model = model_state.settle(model, self.stage.device, mode, attributes=self.attributes)
        self.target = self.model

    def arguments(self, tensors: list[torch.Tensor] | None = None) -> Any:
        """The inputs in the form that the problem has for them."""
        return values.decode(self.tree, self.inputs if tensors is None else tensors)

    def run(self, target: Callable[..., Any], inputs: Any) -> Any:
        """Call ``target`` with inputs in the form that the problem has for them."""
        modes, hooks = torch_modes.count(), python_hooks.those_on()
        try:
            if self.gradients:
                return _with_gradients(target, inputs, self.between)
            return target(inputs) if self.single else model_state.call(target, inputs)
        finally:
            try:
                torch_modes.end_those_above(modes, "the call")
            finally:
                python_hooks.end_those_since(hooks, "the call")

    def forget(self, what: str = "") -> None:
        """Drop the lines of these tensors: they have changed or have gone."""
        self._flats = {k: f for k, f in self._flats.items() if what and k[0] != what}

    def _flat(self, what: str, key: int | play.Key) -> Flat:
        """The line behind ``what`` and ``key``."""
        place = (what, str(key))
        if place not in self._flats:
            self._flats[place] = self._made(what, key)
        return self._flats[place]

    def _made(self, what: str, key: int | play.Key) -> Flat:
        if not isinstance(key, int):
            assert self.model is not None
            self._state = self._state or model_state.state(self.model)
            return Flat(self._state[key], versioned=True)
        if what in LINES.values():
            held = {"input": self.inputs, "init": self.init, "set": self.sets, "claimed": self.claimed}
            return Flat(held[what][key], storage=True)
        return Flat({"output": self.outputs, "before": self.before}[what][key])

    def keep(self, value: Any, copies: list[torch.Tensor] | None = None) -> tuple[Node, list[ResultForm]]:
        """Take the result of a call, and copies of its tensors if there are any; what it is, as data."""
        found: list[torch.Tensor] = []
        tree = values.encode(value, found)
        self.results = [real(t) if readable(t) else torch.empty(0) for t in found]
        shown = found if copies is None else copies
        self.outputs = [real(t) if readable(t) else torch.empty(0) for t in shown]
        self.stage.last = self.outputs
        self.forget("output")
        return tree, [_real(form_of(t)) for t in found]


def _with_gradients(target: Callable[..., Any], inputs: list[Any], between: int) -> list[Any]:
    """A call's result, then the gradients of its tensors and parameters; the last input is the result's.

    So many other calls come ``between``: what the first has kept for its gradients must be its own.
    """
    *given, incoming = inputs
    leaves = [a.detach().requires_grad_() if isinstance(a, torch.Tensor) else a for a in given]
    asked = [a for a in leaves if isinstance(a, torch.Tensor)]
    asked += target.parameters() if isinstance(target, torch.nn.Module) else ()
    with torch.enable_grad():
        result = model_state.call(target, leaves)
        if any(others := [_alike(a, incoming) for a in leaves]):
            other = [incoming if o else a for o, a in zip(others, leaves, strict=True)]
            kept = [model_state.call(target, other) for _ in range(between)]
            del kept  # they are alive together, as the steps of a model are
        found = _gradients(result, asked, incoming)
    return [result.detach(), *found]


def _gradients(
    result: Any, asked: list[torch.Tensor], incoming: torch.Tensor
) -> tuple[torch.Tensor | None, ...]:
    """``torch.autograd.grad(result, asked, incoming, allow_unused=True)``; None where there is no gradient.

    That imports 500 modules (sympy) to compare two shapes, most of a second, before it asks this engine.
    """
    like = isinstance(result, torch.Tensor) and result.is_complex() == incoming.is_complex()
    if not like or result.shape != incoming.shape:  # of which the engine alone speaks in other words
        return torch.autograd.grad(result, asked, incoming, allow_unused=True)
    found: tuple[torch.Tensor | None, ...] = _engine_run_backward(
        (result,), (incoming,), keep_graph=False, create_graph=False, inputs=tuple(asked),
        allow_unreachable=True, accumulate_grad=False,
    )  # fmt: skip
    return found


def _alike(a: Any, b: torch.Tensor) -> bool:
    """Whether ``a`` is a tensor that differs from ``b`` in its values at most."""
    return isinstance(a, torch.Tensor) and (a.shape, a.stride(), a.dtype) == (b.shape, b.stride(), b.dtype)


def weigher_for_call() -> Weigher:
    """What sees torch's operators in a call."""
    from grader.player.sides.weigh import Weigher  # what it imports takes a tenth of a second

    return Weigher()


def real(tensor: torch.Tensor) -> torch.Tensor:
    """A complex tensor as pairs of its parts."""
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def _real(form: ResultForm) -> ResultForm:
    part = PARTS.get(form.dtype) if form.plain else None
    return msgspec.structs.replace(form, dtype=part, shape=(*form.shape, 2)) if part else form
