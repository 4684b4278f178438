"""The submission's side of a pair: its model, its inputs in memory of their own, its calls."""

from __future__ import annotations

import contextlib
import functools
import sys
from typing import TYPE_CHECKING, Any

import torch

from grader.player import model_state, values
from grader.player.pairs.pair_session import PairSide
from grader.player.pairs.weigh import Weigher

if TYPE_CHECKING:
    from grader.player.stage import Stage


class Subject(PairSide):
    """One submission against one problem."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self.initial: dict[str, Any] = {"l": []}

    def make(
        self, entry: str, init: dict[str, Any], seed: int, mode: str, single: bool = False
    ) -> dict[str, Any]:
        """Construct the model with what the reference's ``get_init_inputs`` gave; answers its state."""
        self.single = single
        self.built(entry, values.decode(init, self.init), seed, mode)
        left_out = (
            "grader.backends.simt.runtime.uncompiled" in sys.modules
            and sys.modules["grader.backends.simt.runtime.uncompiled"].used
        )
        return {"state": model_state.listed(self.model), "uncompiled": bool(left_out)}

    def take(self, tree: dict[str, Any], facts: list[dict[str, Any]], fresh: bool) -> dict[str, Any]:
        """Get ready for new inputs: in new memory if ``fresh``, else into the tensors of the call before."""
        old = [values.facts(t) for t in self.inputs]
        self.tree = tree
        if fresh or old != facts:
            previous = self.inputs  # alive meanwhile, so that the new ones lie elsewhere
            self.room("inputs", facts)
            del previous
        return {}

    def move(self, names: list[list[str]]) -> dict[str, Any]:
        """Give these tensors of the state new memory; their values come afterwards."""
        assert self.model is not None
        own = model_state.state(self.model)
        for kind, name in names:
            tensor = own[(kind, name)]
            if not tensor.is_inference() and tensor.layout is torch.strided:
                self.retired.append(tensor.data)
                tensor.data = torch.empty_like(tensor.data)
        self.forget("state")
        return {}

    def call(self, how: str, seed: int, keep: bool, weigh: bool = False) -> dict[str, Any]:
        """Call once. ``how`` as in a round; ``keep`` the results of the call before for another look.

        ``weigh``: say which operators of torch ran, and what they moved.
        """
        stage = self.stage
        self.before = self.results if keep else []
        self.outputs = self.results = stage.last = []
        self.forget()
        inputs = self.arguments()
        if stage.gpu:
            stage.poison([{"shape": list(t.shape)} for t in self.before])
        torch.manual_seed(seed)
        watcher = Weigher() if weigh else None
        call = functools.partial(self.run, self.target, inputs)
        watch = watcher or contextlib.nullcontext()
        value, copies = stage.invoke(call, self.inputs, how, watch, copied=False)
        answer = self.kept(value, copies)
        stage.last = self.outputs
        return answer | {"ops": watcher.as_json() if watcher else []}
