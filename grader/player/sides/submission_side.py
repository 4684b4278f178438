"""The submission's side of a call: its model, its inputs in memory of their own, its calls."""

from __future__ import annotations

import contextlib
import functools
import math
import sys
import time
from typing import TYPE_CHECKING, Any

import msgspec
import torch

from grader.player import model_state, observe, values
from grader.player.sides.base_side import BaseSide, weigher_for_call
from grader.protocol import play

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from grader.backends.simt.runtime.value_origins import Origins
    from grader.player.stage import Stage

UNCOMPILED = "grader.backends.simt.runtime.uncompiled"
# A call is kept, to be made again after another one, if its inputs and weights have no more bytes and it took
# no longer: the seconds of those that are made belong to the other one's limit of time.
EARLIER_BYTES, EARLIER_S, MOST_EARLIER = 1 << 17, 0.25, 8
MOST_AFTER = 2  # that are made again, any of those that are kept
# Bound now: a file that replaces them later on changes nothing.
_frombuffer, _empty = torch.frombuffer, torch.empty


class SubmissionSide(BaseSide):
    """One submission against one problem."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._forms: tuple[play.InputForm, ...] = ()
        # By the inputs' forms; the last one stands last.
        self._earlier: dict[tuple[play.InputForm, ...], Callable[[], Any]] = {}
        self._quickest = math.inf  # seconds of a call with the inputs that are there

    def make(self, step: play.Make) -> play.Made:
        """Construct the model with the arguments that the reference's was made with; answers its state."""
        self._remember()
        self.single, self.attributes, self.gradients = step.single, step.attributes, step.gradients
        self.inputs, self._forms = [], ()
        self.built(step.entry, values.decode(step.init, self.init), step.seed, step.mode, step.kind)
        left_out = UNCOMPILED in sys.modules and sys.modules[UNCOMPILED].used
        return play.Made(model_state.listed(self.model, attributes=self.attributes), bool(left_out))

    def take(self, step: play.Take) -> None:
        """Get ready for new inputs: in new memory if ``fresh``, else into the tensors of the call before."""
        if self._forms != step.forms:
            self._remember()
        self.tree = step.tree
        if step.fresh or self._forms != step.forms:
            previous = self.inputs  # alive meanwhile, so that the new ones lie elsewhere
            self.room(play.Room("inputs", step.forms))
            if self._forms != step.forms:
                self._forms, self._quickest = step.forms, math.inf
            del previous

    def _remember(self) -> None:
        """Keep a call with the inputs that are there, unless they have no elements, or it takes its time."""
        inputs, weights = sum(t.nbytes for t in self.inputs), 0
        if self.model is not None:
            weights = sum(t.numel() * t.element_size() for t in model_state.state(self.model).values())
        if 0 < inputs <= EARLIER_BYTES - weights and self._quickest <= EARLIER_S:
            self._earlier.pop(self._forms, None)
            self._earlier[self._forms] = functools.partial(self.run, self.target, self.arguments())
            if len(self._earlier) > MOST_EARLIER:
                del self._earlier[next(iter(self._earlier))]

    def _others(self) -> list[Callable[[], Any]]:
        """Calls with inputs of other forms than those that are there."""
        return [call for forms, call in self._earlier.items() if forms != self._forms]

    def _some_others(self, seed: play.Seed) -> list[Callable[[], Any]]:
        """A few of them, from a drawn one on: as many calls as are followed take their time."""
        every = self._others()
        return [every[(seed + k) % len(every)] for k in range(min(MOST_AFTER, len(every)))]

    def move(self, step: play.Move) -> None:
        """Give these tensors of the state new memory; their values come afterwards."""
        assert self.model is not None
        own = model_state.state(self.model)
        for key in step.keys:
            tensor = own[key]
            if not tensor.is_inference() and tensor.layout is torch.strided:
                self.retired.append(tensor.data)
                tensor.data = torch.empty_like(tensor.data)
        self.forget("state")

    def call(self, step: play.Call) -> play.Returned:
        """Call once."""
        stage = self.stage
        self.before = self.results if step.keep else []
        inputs = self._cleared()
        stage.poison(step.sizes)
        stage.seed(step.seed)
        weigher = weigher_for_call() if step.weigh else None
        watcher = observe.Watcher(gpu=stage.gpu) if step.watch else None
        watch = _within(*(each for each in (watcher, weigher) if each is not None))
        call = functools.partial(self.run, self.target, inputs)
        if step.followed:
            call = functools.partial(_followed, call, self._some_others(step.seed))
        origins = stage.origins if step.watch else None
        if origins and not origins.begin(products=step.products, prepared=step.prepared):
            origins = None
        began = time.monotonic()
        value, copies = stage.invoke(call, self.inputs, step.how, watch)
        if not step.followed:
            self._quickest = min(self._quickest, time.monotonic() - began)
        tree, forms = self.keep(value, copies)
        seen = watcher.seen if watcher else play.Watched()
        if origins:
            elsewhere = origins.end()
            foreign = self._taken(origins)
            told = origins.told()
            seen = msgspec.structs.replace(seen, elsewhere=elsewhere, foreign=foreign, told=told)
        return play.Returned(
            tree,
            tuple(forms),
            seen,
            weigher.work() if weigher else (),
        )

    def _taken(self, origins: Origins) -> tuple[tuple[int, int], ...]:
        """From now on the results are copies that nobody can write; of each: (how many, the first) of its
        elements that do not hold what a kernel left there.

        What is judged and what is read are the same bytes: else a thread of the file could have its kernels
        leave one thing, and write another one before it is read.
        """
        foreign, copies = [], []
        for result in self.outputs:
            once = _each_once(result)
            pages, count, first = origins.take(once)
            flat = _frombuffer(pages, dtype=result.dtype) if len(pages) else _empty(0, dtype=result.dtype)
            foreign.append((count, first))
            copies.append(flat.view(once.shape).expand(result.shape))
        self.outputs = copies
        return tuple(foreign)

    def call_apart(self, step: play.CallApart) -> play.ReturnedApart:
        """Call once while another stream is the current one."""
        self.before = []
        inputs = self._cleared()
        self.stage.seed(step.seed)
        call = functools.partial(self.run, self.target, inputs)
        if not self.stage.gpu:  # there the time in which the default stream is held back is for one call
            call = functools.partial(_followed, call, self._others())
        found = self.stage.invoke_apart(call, step.hold_s, step.sizes)
        tree, forms = self.keep(found.value, found.copies)
        return play.ReturnedApart(
            tree,
            tuple(forms),
            launched=found.launched,
            copied=found.copied,
            seconds=found.seconds,
            on_default=found.on_default,
        )

    def _cleared(self) -> Any:
        """The arguments of a call, before which the results of the one before are given up."""
        self.outputs = self.results = self.stage.last = []
        self.forget()
        if self.stage.origins:
            self.stage.origins.give_back()
        return self.arguments()


def _followed(call: Callable[[], Any], by: Iterable[Callable[[], Any]]) -> Any:
    value = call()
    for other in by:
        with contextlib.suppress(Exception):  # it was made alone before, and is judged there
            other()
    return value


def _each_once(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor without its repetitions: a view with stride 0 may have far more elements than memory."""
    steps = tensor.stride()
    if 0 not in steps:
        return tensor
    sizes = [min(n, 1) if step == 0 else n for n, step in zip(tensor.shape, steps, strict=True)]
    return tensor.as_strided(sizes, steps, tensor.storage_offset())


@contextlib.contextmanager
def _within(*watching: contextlib.AbstractContextManager[object]) -> Iterator[None]:
    """Within it all of them see what runs."""
    with contextlib.ExitStack() as stack:
        for each in watching:
            stack.enter_context(each)
        yield
