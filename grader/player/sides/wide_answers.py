"""The answers in float64: all at once, or block by block of the batch where memory would not hold them."""

from __future__ import annotations

import copy
import math
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import torch

from grader.player import model_state, values
from grader.player.sides.base_side import real

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.player.stage import Stage
    from grader.protocol.play import Begin, Node

COPIES = 6  # of its inputs, in float64, that a call is reckoned to hold at once
MEMORY_WORDS = ("allocate memory", "out of memory")
NEAR = 1e-2  # of the largest value: how far a block alone may lie from the same rows of the whole


class Called(Protocol):
    """What is called for the answers: a reference with the inputs of one call."""

    stage: Stage
    begun: Begin
    value: Any
    model: torch.nn.Module | None
    target: Callable[..., Any]
    inputs: list[torch.Tensor]
    outputs: list[torch.Tensor]
    tree: Node

    def words(self) -> AbstractContextManager[Any]:
        """Where "cuda" means the CPU, if that is needed."""

    def run(self, target: Callable[..., Any], value: Any) -> Any:
        """One call."""


class NotInBlocksError(RuntimeError):
    """The float64 answers do not fit at once, and the reference does not treat its batch row by row."""


class Answers:
    """The float64 answers of one call: ``tensors`` are those of the block that is ready."""

    def __init__(self, wide: Wide, blocks: int, tensors: list[torch.Tensor], why_native: str = "") -> None:
        self._wide, self.blocks, self.tensors, self.why_native = wide, blocks, tensors, why_native

    def block(self, number: int) -> list[tuple[int, int]]:
        """Compute one block; the range of elements of each output."""
        if self.blocks == 1:
            return [(0, t.numel()) for t in self.tensors]
        self.tensors = []
        lo = number * self._wide.rows
        hi = min(lo + self._wide.rows, self._wide.batch)
        self.tensors = self._wide.some(lo, hi)
        each = [t.numel() // (hi - lo) for t in self.tensors]
        return [(lo * n, hi * n) for n in each]


class Wide:
    """The reference in float64."""

    def __init__(self, side: Called, seed: int, budget: int, room: int = 0, *, native: bool = False) -> None:
        self._side, self._seed, self._budget, self._room = side, seed, budget, room
        self._elements = sum(t.numel() for t in side.inputs if t.is_floating_point())
        self.in_blocks = 8 * COPIES * self._elements > budget
        self._double: torch.nn.Module | None = None
        self._trial: torch.nn.Module | None = None  # what rows of the batch are tried on
        self._found: list[torch.Tensor] | None = None
        self._why = "it draws random numbers" if native else ""
        self._rebuilt = False
        self.batch = self.rows = 0
        self._cut: list[int] = []

    def whole(self) -> None:
        """All of it now. What cannot be computed in float64 is judged by the reference's own dtype."""
        if self._why:
            return
        try:
            self._found = self._leaves(self._run(self._side.inputs))
        except Exception as error:
            if _of_memory(error):
                raise
            self._why = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"

    def settle(self) -> Answers:
        """After the call itself: the answers, or how they will come in blocks."""
        outputs = self._side.outputs
        if self.in_blocks and not self._why:
            try:
                return Answers(self, self._plan(outputs), [])
            except NotInBlocksError:
                too_much = 8 * COPIES * (self._elements + sum(t.numel() for t in outputs)) > self._room
                if too_much and not self._side.stage.gpu:
                    raise
            self.whole_or_by_rule()
        found = self._found
        if found is None or [t.shape for t in found] != [t.shape for t in outputs]:
            return Answers(self, 1, list(outputs), self._why or "it returns something else in float64")
        return Answers(self, 1, found)

    def whole_or_by_rule(self) -> None:
        """All of it, if the GPU has the memory; nothing is lost by a try there, and nobody is killed."""
        try:
            self.whole()
        except torch.OutOfMemoryError:
            self._found, self._double = None, None
            self._why = "the GPU's memory does not hold the answers"
            torch.cuda.empty_cache()

    def some(self, lo: int, hi: int, *, double: bool = True) -> list[torch.Tensor]:
        """The results for rows ``lo`` to ``hi`` of the batch."""
        inputs = [t[lo:hi] if n in self._cut else t for n, t in enumerate(self._side.inputs)]
        return self._leaves(self._run(inputs, double=double))

    def _plan(self, outputs: list[torch.Tensor]) -> int:
        """Find inputs that can be cut along their first dimension, and how many rows fit; the blocks."""
        inputs = self._side.inputs
        sizes = [t.shape[0] if t.dim() else 0 for t in inputs]
        largest = max(range(len(inputs)), key=lambda n: inputs[n].numel())
        self.batch = sizes[largest]
        bytes_of_a_row = 8 * COPIES * (self._elements + sum(t.numel() for t in outputs)) / max(1, self.batch)
        self.rows = max(1, min(self.batch, int(self._budget / max(1.0, bytes_of_a_row))))
        alike = [n for n, size in enumerate(sizes) if size == self.batch]
        fits = self.batch > 1 and all(t.dim() and t.shape[0] == self.batch for t in outputs)
        for cut in (alike, [largest]) if fits else ():
            self._cut = cut
            if self._separable(outputs):
                return math.ceil(self.batch / self.rows)
        raise NotInBlocksError(
            "The answers in float64 do not fit into memory at once, and the reference does not treat the "
            f"rows of its batch apart. A batch of {max(1, self.rows)} instead of {self.batch} would fit."
        )

    def _separable(self, outputs: list[torch.Tensor]) -> bool:
        """Whether the first and the last rows alone give what they give in the whole.

        A call that changes the model's state learns from the batch as a whole, as BatchNorm does in training
        mode; so the rows are tried on a copy, whose state must stay.
        """
        few = max(1, min(self.rows, self.batch // 2, 64))
        model = self._side.model
        try:
            self._trial = copy.deepcopy(model) if model is not None and model.training else model
            for lo, hi in ((0, few), (self.batch - few, self.batch)):
                for alone, all_rows in zip(self.some(lo, hi, double=False), outputs, strict=True):
                    part = all_rows[lo:hi]
                    if alone.shape != part.shape:
                        return False
                    far = (alone.double() - part.double()).abs().nan_to_num()
                    if float(far.max()) > NEAR * float(part.double().abs().nan_to_num().max()):
                        return False
            return self._trial is model or _alike(self._trial, model)
        except Exception:
            return False
        finally:
            self._trial = None

    def _run(self, inputs: list[torch.Tensor], *, double: bool = True) -> Any:
        try:
            return self._once(inputs, double=double)
        except Exception as error:
            if not double or self._rebuilt or self._side.model is None or _of_memory(error):
                raise
        # A copy does not reach what a closure holds; a model that is made anew does.
        self._rebuilt, self._double = True, None
        return self._once(inputs, double=double)

    def _once(self, inputs: list[torch.Tensor], *, double: bool) -> Any:
        side = self._side
        side.stage.seed(self._seed)
        given = [_own(t) if double else t for t in inputs]
        with side.words(), torch.no_grad(), _default(torch.float64 if double else None):
            value = side.run(self._target(double=double), values.decode(side.tree, given))
        side.stage.synchronize()
        return value

    def _target(self, *, double: bool) -> Any:
        side = self._side
        if side.model is None:
            return side.target
        if not double:
            return self._trial
        if self._double is None or self._double.training:  # a call in training mode changes its state
            self._double = self._copy()
        return self._double

    def _copy(self) -> torch.nn.Module:
        side = self._side
        assert side.model is not None
        try:
            model = None if self._rebuilt else copy.deepcopy(side.model)
        except RuntimeError:  # tensors with a history cannot be copied so
            model = None
        if model is None:
            model = model_state.make(side.stage.entry(side.begun.entry), side.value).to(side.stage.device)
            model.train(side.model.training)
            mine = model_state.state(side.model)
            with torch.no_grad():
                for key, tensor in model_state.state(model).items():
                    tensor.copy_(mine[key])
        model_state.doubled(model)
        return model

    @staticmethod
    def _leaves(value: Any) -> list[torch.Tensor]:
        found: list[torch.Tensor] = []
        values.encode(value, found)
        return [real(t) for t in found]


def _of_memory(error: Exception) -> bool:
    return isinstance(error, MemoryError) or any(words in str(error) for words in MEMORY_WORDS)


def _alike(one: torch.nn.Module | None, other: torch.nn.Module | None) -> bool:
    """Whether two models hold the same values."""
    assert one is not None and other is not None
    mine, theirs = model_state.state(one), model_state.state(other)
    return all(torch.equal(tensor, mine[key]) for key, tensor in theirs.items())


def _own(tensor: torch.Tensor) -> torch.Tensor:
    """In float64, in memory of its own."""
    wide = values.wide(tensor)
    return wide.clone() if wide is tensor else wide


@contextmanager
def _default(dtype: torch.dtype | None) -> Iterator[None]:
    before = torch.get_default_dtype()
    if dtype is not None:
        torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
