"""The reference's side of a pair: it draws inputs and weights, and gives the answers."""

from __future__ import annotations

import contextlib
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from grader.player import model_state, values
from grader.player.pairs import variants
from grader.player.pairs.forms import OnCpu
from grader.player.pairs.pair_session import PairSide, mentions_cuda, real
from grader.player.pairs.pieces import Flat
from grader.player.pairs.weigh import Weigher
from grader.player.pairs.wide_answers import Answers, Wide

if TYPE_CHECKING:
    from grader.player.stage import Stage

SAMPLE = 1 << 16
FACTORIES = {"randn", "rand", "randint", "normal", "normal_", "uniform_", "randn_like", "rand_like"}
PIECE = 1 << 24  # elements that are looked at at a time


class Reference(PairSide):
    """One reference file and the problem that it poses."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self.entry, self.mode_ = "Model", ""
        self.specs: list[dict[str, Any]] = []
        self.value: Any = []
        self.recipe: tuple[int, str, int] = (0, "as given", 0)
        self.answers: Answers | None = None
        self.after: dict[int, torch.Tensor] = {}
        self.sample: list[torch.Tensor] = []
        self.near: list[torch.Tensor] = []
        with open(stage.path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 (one line of it)
            self._on_cpu = stage.device == "cpu" and mentions_cuda(file.read())

    def words(self) -> contextlib.AbstractContextManager[Any]:
        """Where "cuda" means the CPU, if that is needed."""
        return OnCpu() if self._on_cpu else contextlib.nullcontext()

    def begin(self, entry: str, seed: int, mode: str, specs: list[dict[str, Any]]) -> dict[str, Any]:
        """Construct the model; answers ``init`` as data, its tensors, the state, and how it is run.

        ``specs``: keyword arguments of ``generate_input``, for a problem in that form.
        """
        self.entry, self.mode_, self.specs, self.single = entry, mode, specs, bool(specs)
        draw = getattr(self.stage.module, "get_init_inputs", None)
        _seed(seed)
        with self.words():
            self.value = draw() if draw and not specs else []
            self.built(entry, self.value, seed, mode)
        tensors: list[torch.Tensor] = []
        tree = values.encode(self.value, tensors)
        self.init = [t.detach().cpu() for t in tensors]
        return {
            "init": tree,
            "facts": [values.facts(t) for t in self.init],
            "state": model_state.listed(self.model),
            "others": values.others(tree),
            "training": bool(self.model is not None and self.model.training),
        }

    def weights(self, seed: int, names: list[str], mode: str) -> dict[str, Any]:
        """Construct the model anew; constants among ``names`` get other values (see ``models.unsettle``)."""
        if self.model is not None:
            self.mode_ = mode
            with self.words():
                self.built(self.entry, self.value, seed, mode)
            model_state.unsettle(self.model, set(names), torch.Generator().manual_seed(seed % (1 << 62)))
        return {}

    def draw(self, seed: int, variant: str, spec: int = 0) -> dict[str, Any]:
        """New inputs; ``applies`` is False if the variant changes nothing of these."""
        self.recipe = seed, variant, spec
        # Nothing of the call before stays while the new tensors are made: they may fill the memory.
        self.answers, self.after, self.inputs, self.outputs, self.near = None, {}, [], [], []
        self.forget()
        self.inputs, applies = self._drawn()
        return {
            "tree": self.tree,
            "facts": [values.facts(t) for t in self.inputs],
            "others": values.others(self.tree),
            "complex": any(t.is_complex() for t in self.inputs),
            "applies": applies,
        }

    def _drawn(self) -> tuple[list[torch.Tensor], bool]:
        seed, variant, spec = self.recipe
        _seed(seed)
        with self.words(), torch.no_grad():
            if self.specs:
                wanted = dict(self.specs[spec])
                if "seed" in wanted:
                    wanted["seed"] = seed % (1 << 31)
                value = self.stage.entry("generate_input")(**wanted)
            else:
                value = self.stage.entry("get_inputs")()
        tensors: list[torch.Tensor] = []
        self.tree = values.encode(value, tensors)
        tensors = [t.detach().to(self.stage.device) for t in tensors]
        return tensors, variants.applied(variant, tensors, seed)

    def answer(
        self, seed: int, budget: int, weigh: bool, room: int = 0, native: bool = False
    ) -> dict[str, Any]:
        """The answers for the inputs as they are, in the problem's own dtype and in float64.

        ``budget``: bytes that float64 may take at a time; beyond it answers come in blocks of the batch, or
        at once in up to ``room`` bytes where that cannot be. ``native``: not in float64, which would draw
        other random numbers.
        """
        torch.manual_seed(seed)
        self.outputs, self.after = [], {}
        self.forget()
        if self.stage.device == "cuda":
            room = torch.cuda.mem_get_info()[0] // 2
        wide = Wide(self, seed, budget, room, native)
        if not wide.in_blocks:
            wide.whole()  # before the call itself, which may change inputs and state
        versions = [t._version for t in self.inputs]
        state = model_state.state(self.model) if self.model is not None else {}
        # Not the version: running statistics are updated without raising it.
        before = {key: t.detach().clone() for key, t in state.items() if key[0] == "buffer"}
        raised = {key: t._version for key, t in state.items()}
        watcher = Weigher() if weigh else None
        torch.manual_seed(seed)
        with self.words(), torch.no_grad(), watcher or contextlib.nullcontext():
            value = self.run(self.target, self.arguments())
        self.stage.synchronize()
        answer = self.kept(value)
        changed = [n for n, (t, v) in enumerate(zip(self.inputs, versions, strict=True)) if t._version != v]
        if changed:
            self.after = {n: self.inputs[n] for n in changed}
            aliased = {t.untyped_storage().data_ptr() for t in self.after.values()}
            self.inputs, _ = self._drawn()
            if any(t.untyped_storage().data_ptr() in aliased for t in self.inputs):
                raise RuntimeError("get_inputs() returns the same memory each time, and forward changes it")
        drawn = self._chance(watcher.random, seed, changed) if watcher and watcher.random else ""
        self.answers = wide.settle()
        for fact, tensor in zip(answer["tensors"], self.outputs, strict=True):
            fact |= _about(tensor)
        sample = [_sample(t) for t in self.outputs]
        same = [len(a) > 0 and torch.equal(a, b) for a, b in zip(sample, self.sample, strict=False)]
        self.sample = sample
        return answer | {
            "blocks": self.answers.blocks,
            "native": self.answers.why_native,
            "changed": changed,
            "state": [
                list(key)
                for key, t in state.items()
                if t._version != raised[key] or (key in before and not _same(t, before[key]))
            ],
            "random": drawn,
            "ops": watcher.as_json() if watcher else [],
            "elements": watcher.elements if watcher else 0,
            "same": bool(same) and all(same),
        }

    def _chance(self, names: set[str], seed: int, changed: list[int]) -> str:
        """What the seed does to the results: "" nothing, "seeded" it settles them, else "free".

        Attention without dropout only may draw. Numbers that are drawn as such (an initial state) are the
        same on both sides with one seed; which elements a dropout takes is a kernel's own choice.
        """
        found = []
        for number in (seed, seed + 1):
            torch.manual_seed(number)
            with self.words(), torch.no_grad():
                tensors: list[torch.Tensor] = []
                values.encode(self.run(self.target, self.arguments()), tensors)
            found.append([real(t) for t in tensors])
        same = [all(_near(a, b) for a, b in zip(self.outputs, one, strict=True)) for one in found]
        if all(same):
            return ""
        return "seeded" if same[0] and not changed and names <= FACTORIES else "free"

    def nudge(self, seed: int) -> dict[str, Any]:
        """Call it once more, with inputs that differ by one part in the last place: lines "nudged"."""
        given, generator = self.inputs, torch.Generator().manual_seed(seed)
        torch.manual_seed(seed)
        with self.words(), torch.no_grad():
            changed = [variants.nudged(t, generator) for t in given]
            self.near = []
            values.encode(self.run(self.target, self.arguments(changed)), self.near)
        self.near = [real(t) for t in self.near]
        self.forget("nudged")
        return {}

    def block(self, number: int) -> dict[str, Any]:
        """Have the float64 answers of one block ready; ``ranges``: which elements of each output they are."""
        assert self.answers is not None
        ranges = self.answers.block(number)
        self.forget("answer")
        return {"ranges": ranges, "facts": [_kind(t) for t in self.answers.tensors]}

    def judge(self, tree: dict[str, Any]) -> dict[str, Any]:
        """Have the file's own ``check_implementation`` look at a result that came in pieces into ``init``."""
        given, _ = self._drawn()
        found = self.stage.entry("check_implementation")(
            values.decode(self.tree, given), values.decode(tree, self.init)
        )
        good, why = found if isinstance(found, tuple) else (found, "")
        return {"good": bool(good), "why": str(why)[:600]}

    def _made(self, what: str, key: Any) -> Flat:
        if what == "answer":
            assert self.answers is not None
            return Flat(self.answers.tensors[int(key)])
        if what == "nudged":
            return Flat(self.near[int(key)])
        if what == "after":
            return Flat(self.after.get(int(key), self.inputs[int(key)]), storage=True)
        return super()._made(what, key)


def _seed(seed: int) -> None:
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % (1 << 32))


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return torch.equal(one, other) or bool(((one == other) | ((one != one) & (other != other))).all())


def _near(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Equal, but for what the order of a GPU's additions may change."""
    if one.shape != other.shape or not one.is_floating_point():
        return torch.equal(one, other)
    return torch.allclose(one, other, rtol=1e-3, atol=1e-5, equal_nan=True)


def _about(tensor: torch.Tensor) -> dict[str, Any]:
    """What makes a problem degenerate: a constant, or what is not finite."""
    if not tensor.numel():
        return {"constant": True, "finite": True}
    line = tensor.reshape(-1)
    pieces = [line[lo : lo + PIECE] for lo in range(0, line.numel(), PIECE)]
    finite = not line.is_floating_point() or all(bool(torch.isfinite(p).all()) for p in pieces)
    return {
        "constant": line.numel() > 1 and all(bool((p == line[0]).all()) for p in pieces),
        "finite": finite,
    }


def _kind(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _sample(tensor: torch.Tensor) -> torch.Tensor:
    """Some elements, evenly spaced, to tell whether an output changes with the input at all."""
    line = tensor.reshape(-1)
    return line[:: max(1, line.numel() // SAMPLE)].clone()
