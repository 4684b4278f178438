"""The reference's side of a call: it draws inputs and weights, and gives the answers."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np
import torch

from grader.domain import inputs as case_inputs
from grader.domain.task import Argument, Tensor
from grader.player import model_state, values
from grader.player.sides import variants
from grader.player.sides.agreement import agrees, distance, identical, slack_of
from grader.player.sides.base_side import BaseSide, real, weigher_for_call
from grader.player.sides.forms import OnCpu, mentions_cuda
from grader.player.sides.measuring import measured
from grader.player.sides.pieces import Flat
from grader.player.sides.reach import reach
from grader.player.sides.wide_answers import Answers, Wide
from grader.player.tensors import name_of
from grader.protocol import play
from grader.protocol.play import Node, ResultForm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.inputs import Drawn
    from grader.player.stage import Stage

SAMPLE = 1 << 16
FACTORIES = {"randn", "rand", "randint", "normal", "normal_", "uniform_", "randn_like", "rand_like"}
PIECE = 1 << 24  # elements that are looked at at a time
IDLE = 1 << 30  # bytes of a GPU that may lie idle with this process


class ReferenceSide(BaseSide):
    """One reference file and the problem that it poses."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self.begun = play.Begin("Model", 0, "")
        self.value: Any = []  # what the model is made with
        self.recipe = play.Draw(0)
        self.swapped = False
        self.draws_there = True  # until its code has refused
        self.places: list[Literal["cuda", "cpu"]] = []  # where each input is meant to be
        self.answers: Answers | None = None
        self.after: dict[int, torch.Tensor] = {}
        self.sample: list[torch.Tensor] = []
        self.near: list[torch.Tensor] = []
        text = Path(stage.path).read_text("utf-8", errors="replace")
        self._on_cpu = stage.device == "cpu" and mentions_cuda(text)

    def words(self) -> contextlib.AbstractContextManager[Any]:
        """Where "cuda" means the CPU, if that is needed."""
        return OnCpu() if self._on_cpu else contextlib.nullcontext()

    def measure(self, step: play.Measure) -> play.Measured:
        """How large the problem is, without any of its memory."""
        return measured(self.stage, step.entry, step.small)

    def begin(self, step: play.Begin) -> play.Begun:
        """Construct the model; answers what it was made with, its state, and how it is run."""
        self.begun, self.single, self.attributes = step, bool(step.specs), step.attributes
        self.gradients = step.gradients
        draw = getattr(self.stage.module, "get_init_inputs", None)
        self._seed(step.seed)
        with self.words():
            if step.init is not None:
                self.value = values.decode(step.init, [])
            else:
                self.value = draw() if draw and not step.specs else []
            self._construct(step.seed)
        tensors: list[torch.Tensor] = []
        tree = values.encode(self.value, tensors)
        self.init = [t.detach().cpu() for t in tensors]
        return play.Begun(
            init=tree,
            forms=tuple(values.form(t) for t in self.init),
            state=model_state.listed(self.model, attributes=self.attributes),
            training=bool(self.model is not None and self.model.training),
        )

    def weights(self, step: play.Weights) -> None:
        """Construct the model anew; constants among these get other values (see ``model_state.unsettle``)."""
        if self.model is not None:
            self.begun = msgspec.structs.replace(self.begun, mode=step.mode)
            with self.words():
                self._construct(step.seed)
            model_state.unsettle(self.model, set(step.names), torch.Generator().manual_seed(step.seed))

    def _construct(self, seed: int) -> None:
        """Make what is called; where its tensors belong, if that was asked for and the file's code allows."""
        entry, mode, kind = self.begun.entry, self.begun.mode, self.begun.kind
        if self.begun.there:
            try:
                with torch.device(self.stage.device):
                    self.built(entry, self.value, seed, mode, kind)
                if self.model is not None:
                    model_state.settle_on_host(self.model)
                return
            except Exception:  # it mixes them with others, or asks numpy
                self.begun = msgspec.structs.replace(self.begun, there=False)
        self.built(entry, self.value, seed, mode, kind)

    def draw(self, step: play.Draw) -> play.Inputs:
        """New inputs."""
        self.recipe, self.swapped = step, False
        # Nothing of the call before stays while the new tensors are made: they may fill the memory.
        self.answers, self.after, self.inputs, self.outputs, self.near = None, {}, [], [], []
        self.forget()
        self.inputs, applies = self._drawn()
        return self._described(applies=applies)

    def swap(self, _step: play.Swap) -> play.Inputs:
        """Two elements of each input change places."""
        self.swapped = not self.swapped
        self.answers, self.outputs, self.near = None, [], []
        self.forget()
        for tensor in self.inputs:
            variants.swap(tensor)
        return self._described(applies=True)

    def _seed(self, seed: int) -> None:
        """All random numbers that a reference may draw."""
        self.stage.seed(seed)
        random.seed(seed)
        np.random.seed(seed % (1 << 32))

    def _described(self, *, applies: bool) -> play.Inputs:
        places = zip(self.inputs, self.places, strict=True)
        return play.Inputs(self.tree, tuple(values.form(t, place) for t, place in places), applies)

    def _drawn(self) -> tuple[list[torch.Tensor], bool]:
        recipe = self.recipe
        self._seed(recipe.seed)
        tensors = self._given() if recipe.arguments is None else self._arguments(recipe.arguments)
        applies = variants.applied(recipe.variant, tensors, recipe.seed)
        for tensor in tensors if self.swapped else ():
            variants.swap(tensor)
        return tensors, applies

    def _arguments(self, arguments: tuple[Argument, ...]) -> list[torch.Tensor]:
        """Tensors drawn as a case says, and the tree of all arguments."""
        rng = case_inputs.generator(self.recipe.seed)
        tensors, parts = list[torch.Tensor](), list[Node]()
        self.places = [a.device for a in arguments if isinstance(a, Tensor)]
        for argument in arguments:
            if isinstance(argument, Tensor):
                parts.append(Node(t=len(tensors)))
                tensors.append(_placed(case_inputs.draw(argument, rng), self.stage.device))
            else:
                parts.append(play.plain_node(argument))
        self.tree = Node(l=tuple(parts))
        return tensors

    def _given(self) -> list[torch.Tensor]:
        """What the file's own function gives."""
        begun = self.begun
        with self.words(), torch.no_grad():
            if begun.specs:
                wanted = dict(begun.specs[self.recipe.spec])
                if "seed" in wanted:
                    wanted["seed"] = self.recipe.seed % (1 << 31)
                value = self.stage.entry("generate_input")(**wanted)
            else:
                value = self._from_file()
        tensors: list[torch.Tensor] = []
        self.tree = values.encode(value, tensors)
        self.places = ["cuda"] * len(tensors)
        return [t.detach().to(self.stage.device) for t in tensors]

    def _from_file(self) -> Any:
        """What ``get_inputs`` gives, drawn where the inputs belong if its code allows: a CPU draws slowly."""
        draw = self.stage.entry("get_inputs")
        if self.draws_there:
            try:
                with torch.device(self.stage.device):
                    return draw()
            except Exception:  # it mixes them with others, or asks numpy
                self.draws_there = False
                self._seed(self.recipe.seed)
        return draw()

    def answer(self, step: play.Answer) -> play.Answered:
        """The answers for the inputs as they are, in the problem's own dtype and in float64."""
        seed = step.seed
        self.stage.seed(seed)
        self.outputs, self.after = [], {}
        self.forget()
        room = torch.cuda.mem_get_info()[0] // 2 if self.stage.gpu else step.room
        wide = Wide(self, seed, step.budget, room, native=step.native)
        if not wide.in_blocks:
            wide.whole_or_by_rule()  # before the call itself, which may change inputs and state
        versions = [t._version for t in self.inputs]
        state = model_state.state(self.model) if self.model is not None else {}
        # Not the version: running statistics are updated without raising it.
        before = {key: t.detach().clone() for key, t in state.items() if key[0] == "buffer"}
        raised = {key: t._version for key, t in state.items()}
        size = reach((*self.inputs, *state.values()), self.tree, self.model)
        weigher = weigher_for_call() if step.weigh else None
        self.stage.seed(seed)
        with self.words(), torch.no_grad(), weigher or contextlib.nullcontext():
            value = self.run(self.target, self.arguments())
        self.stage.synchronize()
        tree, forms = self.keep(value)
        changed = [n for n, (t, v) in enumerate(zip(self.inputs, versions, strict=True)) if t._version != v]
        if changed:
            self._draw_again(changed)
        drawn = self._chance(weigher.random, seed, changed) if weigher and weigher.random else ""
        self.answers = wide.settle()
        if self.stage.gpu and torch.cuda.memory_reserved() - torch.cuda.memory_allocated() > IDLE:
            torch.cuda.empty_cache()  # the other process needs memory, too
        sample = [_sample(t) for t in self.outputs]
        same = [len(a) > 0 and torch.equal(a, b) for a, b in zip(sample, self.sample, strict=False)]
        self.sample = sample
        return play.Answered(
            tree=tree,
            tensors=tuple(_about(form, tensor) for form, tensor in zip(forms, self.outputs, strict=True)),
            work=weigher.work() if weigher else (),
            blocks=self.answers.blocks,
            dtypes=tuple(name_of(t.dtype) for t in self.answers.tensors),
            native=self.answers.why_native,
            reach=size,
            changed=tuple(changed),
            state=tuple(
                key
                for key, t in state.items()
                if t._version != raised[key] or (key in before and not _same(t, before[key]))
            ),
            same=bool(same) and all(same),
            random=drawn,
            elements=weigher.elements if weigher else 0,
        )

    def _draw_again(self, changed: list[int]) -> None:
        """The call has written to inputs: keep what it wrote, and have them again as they were."""
        self.after = {n: self.inputs[n] for n in changed}
        aliased = {t.untyped_storage().data_ptr() for t in self.after.values()}
        self.inputs, _ = self._drawn()
        self.forget()
        if any(t.untyped_storage().data_ptr() in aliased for t in self.inputs):
            raise RuntimeError("get_inputs() returns the same memory each time, and forward changes it")

    def _chance(self, names: set[str], seed: int, changed: list[int]) -> str:
        """What the seed does to the results: "" nothing, "seeded" it settles them, else "free".

        Attention without dropout only may draw. Numbers that are drawn as such (an initial state) are the
        same on both sides with one seed; which elements a dropout takes is a kernel's own choice.
        """
        found = []
        for number in (seed, seed + 1):
            self.stage.seed(number)
            with self.words(), torch.no_grad():
                tensors: list[torch.Tensor] = []
                values.encode(self.run(self.target, self.arguments()), tensors)
            found.append([real(t) for t in tensors])
        same = [all(_near(a, b) for a, b in zip(self.outputs, one, strict=True)) for one in found]
        if all(same):
            return ""
        return "seeded" if same[0] and not changed and names <= FACTORIES else "free"

    def nudge(self, step: play.Nudge) -> None:
        """Call it once more, with inputs that differ by one part in the last place."""
        given, generator = self.inputs, torch.Generator(self.stage.device).manual_seed(step.seed)
        self.stage.seed(step.call)
        with self.words(), torch.no_grad():
            changed = [variants.nudged(t, generator) for t in given]
            self.near = []
            values.encode(self.run(self.target, self.arguments(changed)), self.near)
        self.near = [real(t).contiguous() for t in self.near]

    def block(self, step: play.Block) -> play.Ranges:
        """Have the float64 answers of one block ready."""
        assert self.answers is not None
        ranges = tuple(self.answers.block(step.number))
        self.forget("answer")
        return play.Ranges(ranges, tuple(name_of(t.dtype) for t in self.answers.tensors))

    def magnified(self, step: play.Magnified) -> play.Distances:
        """Whether a last bit of the inputs moves the results as far as what was claimed is off."""
        nudged = self.near[step.output].reshape(-1)
        missed, far, moved = False, 0.0, 0.0
        for lo, hi, exact, own, got in self._windows(step):
            near = nudged[lo:hi]
            missed = missed or not agrees(exact, own, near, step.fair)
            far, moved = max(far, distance(exact, got)), max(moved, distance(exact, near))
        return play.Distances(missed, far, moved)

    def _windows(
        self, step: play.Compare
    ) -> Iterator[tuple[int, int, torch.Tensor, torch.Tensor, torch.Tensor]]:
        """A part of a result, a window at a time: from, to, answers, own results, what was claimed."""
        (claimed,) = self.claimed
        answer, eager = (self._flat(what, step.output).line for what in ("answer", "output"))
        for lo in range(step.lo, step.hi, step.window):
            hi = min(step.hi, lo + step.window)
            exact, got = answer[lo - step.base : hi - step.base], claimed[lo - step.lo : hi - step.lo]
            yield lo, hi, exact, eager[lo:hi], got

    def compare(self, step: play.Compare) -> play.Agreement:
        """Look at a part of a result."""
        good, zeros_pass, slack = list[bool](), step.look, list[float]()
        for _, _, exact, own, got in self._windows(step):
            good.append(agrees(exact, own, got, step.fair))
            if zeros_pass:
                zeros_pass = agrees(exact, own, torch.zeros_like(got), step.fair)
                slack += slack_of(exact, own, step.fair)
        return play.Agreement(tuple(good), zeros_pass, min(slack, default=None))

    def same(self, step: play.Same) -> play.Agreement:
        """Whether these pieces are what was claimed, bit by bit."""
        asked = zip(step.pieces, self.claimed, strict=True)
        return play.Agreement(
            tuple(identical(self._flat(p.what, p.key).line[p.lo : p.hi], claimed) for p, claimed in asked)
        )

    def judge(self, step: play.Judge) -> play.Opinion:
        """Have the file's own ``check_implementation`` look at a result that came in pieces into ``init``."""
        given, _ = self._drawn()
        found = self.stage.entry("check_implementation")(
            values.decode(self.tree, given), values.decode(step.tree, self.init)
        )
        good, why = found if isinstance(found, tuple) else (found, "")
        return play.Opinion(bool(good), str(why)[:600])

    def _made(self, what: str, key: int | play.Key) -> Flat:
        if not isinstance(key, int):
            return super()._made(what, key)
        if what == "answer":
            assert self.answers is not None
            return Flat(self.answers.tensors[key])
        if what == "after":
            return Flat(self.after.get(key, self.inputs[key]), storage=True)
        return super()._made(what, key)


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return torch.equal(one, other) or bool(((one == other) | ((one != one) & (other != other))).all())


def _near(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Equal, but for what the order of a GPU's additions may change."""
    if one.shape != other.shape or not one.is_floating_point():
        return torch.equal(one, other)
    return torch.allclose(one, other, rtol=1e-3, atol=1e-5, equal_nan=True)


def _placed(drawn: Drawn, device: str) -> torch.Tensor:
    """The tensor of a case, its storage with all gaps of a view; ``device``: where the GPU's tensors are."""
    storage = torch.from_numpy(drawn.storage).to(device if drawn.device == "cuda" else "cpu")
    return storage.as_strided(drawn.shape, drawn.strides, drawn.start)


def _about(form: ResultForm, tensor: torch.Tensor) -> ResultForm:
    """With what makes a problem degenerate: a constant, or what is not finite."""
    if not tensor.numel():
        return msgspec.structs.replace(form, constant=True)
    line, pieces = tensor.reshape(-1), _pieces(tensor)
    return msgspec.structs.replace(
        form,
        constant=line.numel() > 1 and all(bool((p == line[0]).all()) for p in pieces),
        finite=not line.is_floating_point() or all(bool(torch.isfinite(p).all()) for p in pieces),
    )


def _pieces(tensor: torch.Tensor) -> list[torch.Tensor]:
    line = tensor.reshape(-1)
    return [line[lo : lo + PIECE] for lo in range(0, line.numel(), PIECE)]


def _sample(tensor: torch.Tensor) -> torch.Tensor:
    """Some elements, evenly spaced, and two sums over all: does an output change with the input at all?"""
    real = torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor
    some = real.reshape(-1)[:: max(1, real.numel() // SAMPLE)].double()
    sums = [torch.stack([p.double().sum(), p.double().square().sum()]) for p in _pieces(real)]
    return torch.cat([some, *sums])
