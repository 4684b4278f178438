"""What a player can be asked to do with a submission: load it, build its model, set weights, call it."""

from __future__ import annotations

import contextlib
import copy
import functools
import importlib
import importlib.util
import math
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from grader.player import late_inputs, model_state, observe, tensors, values
from grader.protocol.arena import Arena

# Without a GPU these have interpreters, which must be chosen before they are imported.
DIALECT = re.compile(r"^\s*(?:import|from)\s+(?:triton|numba)\b", re.M)


class MissingEntryError(Exception):
    """The submission lacks the name that is to be called."""


class Stage:
    """One submission (or reference) in this process.

    ``device`` is where tensors meant for the GPU are put: "cuda", or "cpu" for a reference that runs beside
    the CPU back end.
    """

    def __init__(self, inbox: Arena, outbox: Arena, device: str) -> None:
        self.inbox, self.outbox, self.device = inbox, outbox, device
        self.path = ""
        self.module: ModuleType | None = None
        self.model: torch.nn.Module | None = None
        self.last: list[torch.Tensor] = []
        self.inputs: list[Any] = []
        self.retired: list[torch.Tensor] = []  # kept, so that no address is ever given out again
        self.gpu = device == "cuda" and "grader.backends.simt.runtime.device" not in sys.modules
        self.again: Callable[[], Any] = lambda: None
        self.pair_side: Any = None  # what it holds of a pair (grader.player.commands.pair)
        self.timed: dict[str, Any] = {}  # contenders of a race, by name (grader.player.commands.race_blocks)

    def load(self, path: str, folders: tuple[str, ...] = (), **_: object) -> dict[str, Any]:
        """Import the file at ``path``; what it imports may lie beside it, or in ``folders``."""
        self.path = path
        for folder in (str(Path(path).parent), *folders):
            if folder not in sys.path:
                sys.path.append(folder)  # last, so that no file beside the submission shadows a library
        text = "" if self.gpu else Path(path).read_text("utf-8", errors="replace")
        if "compile" in text and "grader.backends.simt.runtime.device" in sys.modules:
            importlib.import_module("grader.backends.simt.runtime.uncompiled").install()
        if DIALECT.search(text):
            with contextlib.suppress(ImportError):  # the file itself then says what is missing
                importlib.import_module("grader.lesson_support.dialects")
        spec = importlib.util.spec_from_file_location("submission", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["submission"] = module
        spec.loader.exec_module(module)
        self.module = module
        return {}

    def entry(self, name: str) -> Callable[..., Any]:
        """The submission's function or class of that name."""
        found = getattr(self.module, name, None)
        if found is None:
            raise MissingEntryError(f"the file defines no {name}")
        if not callable(found):
            raise MissingEntryError(f"{name} is not a function or class")
        return found  # type: ignore[no-any-return]

    def construct(self, entry: str, init: list[Any], there: bool = False, **_: object) -> dict[str, Any]:
        """Make the model; answers its state, see :func:`grader.player.model_state.listed`.

        ``there``: with the GPU as the default device, for a reference whose values are replaced anyway.
        """
        args = [tuple(a) if isinstance(a, list) else a for a in init]
        with torch.device("cuda") if there and self.gpu else contextlib.nullcontext():
            model = self.entry(entry)(*args)
        if not isinstance(model, torch.nn.Module):
            raise TypeError(f"{entry}(...) is a {type(model).__name__}, not a torch.nn.Module")
        self.model = model.to(self.device).eval()
        self.retired.clear()
        return {"state": model_state.listed(self.model)}

    def set_state(self, state: list[Any], how: str = "write", **_: object) -> dict[str, Any]:
        """Give parameters and buffers new values: "write" in place, else in new memory."""
        own = self.state()
        with torch.no_grad():
            for name, slot in state:
                # A copy to a GPU is over when it returns, so the shared memory itself may be its source.
                values = tensors.take(self.inbox, slot, "cpu", copied=not self.gpu)
                if how == "write":
                    own[name].copy_(values)
                else:
                    self.retired.append(own[name].data)
                    own[name].data = values.to(own[name].device, copy=self.gpu)
        return {}

    def draw_state(self, seed: int, state: list[Any], **_: object) -> dict[str, Any]:
        """Give parameters values from a seed, each ``[name, dtype, scale]``: normal, times the scale.

        Two players on one GPU draw the same from the same seed, so that large models need not be sent.
        """
        own, device = self.state(), torch.device(self.device)
        source = torch.Generator(device).manual_seed(seed)
        with torch.no_grad():
            for name, dtype, scale in state:
                # Row by row whatever the parameter's own layout, so that all players agree.
                values = torch.randn(own[name].shape, generator=source, device=device)
                own[name].copy_((values * scale).to(tensors.dtype_of(dtype)))
        return {}

    def state(self) -> dict[str, torch.Tensor]:
        """The model's parameters and buffers by name."""
        assert self.model is not None
        return dict([*self.model.named_parameters(), *self.model.named_buffers()])

    def call(
        self, entry: str, args: list[Any], out: list[Any], after: list[int], double: bool = False, **more: Any
    ) -> dict[str, Any]:
        """Call the entry (or the model) once and write what it returns into the outbox.

        ``out``: for each expected tensor ``{"at", "shape", "dtype"}``; a result of another shape or dtype is
        only described. ``double``: in float64 (for a reference). In ``more``: ``inputs``, how they come about
        (see :class:`~grader.referee.rounds.Round`); ``kept``: where to copy the results of the call before
        once this one is over, ``after``: the storage of each tensor argument, ``state``: parameters, as
        [name, place]. ``watch``: report the operators and kernels that ran.
        """
        how, before = more.get("inputs", "new"), self.last
        self.poison(out)
        inputs = self.inputs = self.arguments(args, double, how)
        target = functools.partial(self.target(entry, double), *inputs)
        seen: dict[str, Any] = {}
        watch = observe.watching(self.gpu, seen, bool(more.get("watch")))
        value, copies = self.invoke(target, inputs, how, watch, copied=self.gpu)
        results = value if isinstance(value, (tuple, list)) else [value]
        self.last = [v for v in results if tensors.readable(v)]
        answer = tensors.describe(value)
        if answer["kind"] == "tensors":
            self._write([v for v in copies if tensors.readable(v)], out)
        self._write(before, more.get("kept", []))
        slots = [(a["slot"], t) for a, t in zip(args, inputs, strict=True) if "slot" in a]
        for (slot, tensor), at in zip(slots, after, strict=False):
            tensors.put(self.outbox, at, tensors.storage_of(tensor, slot))
        if more.get("state"):
            own = self.state()
            for name, at in more["state"]:
                if name in own:
                    tensors.put(self.outbox, at, own[name])
        return answer | {"watched": seen}

    def invoke(
        self,
        call: Callable[[], Any],
        inputs: list[Any],
        how: str,
        watch: contextlib.AbstractContextManager[Any],
        *,
        copied: bool,
    ) -> tuple[Any, list[Any]]:
        """Make a call as every call is made; what it returned, and its tensors as they were right after it.

        ``watch`` sees the call and nothing else.

        On a GPU all but "new" inputs come late, on another stream (:mod:`grader.player.late_inputs`); then,
        and if ``copied``, the tensors are copies. Those wait for the current stream only: what another one
        still does comes too late for them.
        """
        late = self.gpu and how != "new"
        with late_inputs.busy(inputs) if late else contextlib.nullcontext():
            with watch, torch.no_grad():
                value = call()
            found: list[torch.Tensor] = []
            values.encode(value, found)
            kept = [t.clone() if tensors.plain(t) else t for t in found] if late or copied else found
        self.synchronize()
        self.again = call
        return value, kept

    def target(self, entry: str, double: bool = False) -> Callable[..., Any]:
        """What a call calls: the model if there is one, else the named function."""
        if self.model is None:
            return self.entry(entry)
        return copy.deepcopy(self.model).double() if double else self.model

    def arguments(self, args: list[dict[str, Any]], double: bool = False, how: str = "new") -> list[Any]:
        """Tensors and plain values for a call; ``how`` as in a round of the referee."""
        old = self.inputs
        if how in ("keep", "refill", "swap") and len(old) == len(args):
            for argument, tensor in zip(args, old, strict=True):
                if "slot" in argument and how != "keep":
                    tensors.refill(tensor, self.inbox, argument["slot"])
            return old
        # The old ones are alive meanwhile, so the new ones lie elsewhere.
        return [self._argument(a, double) for a in args]

    def fetch(self, out: list[Any], **_: object) -> dict[str, Any]:
        """Write the last result into the outbox, as far as shape and dtype are those wanted."""
        self._write(self.last, out)
        return {}

    def _write(self, results: list[torch.Tensor], out: list[Any]) -> None:
        for tensor, want in zip(results, out, strict=False):
            if list(tensor.shape) == want["shape"] and tensors.name_of(tensor.dtype) == want["dtype"]:
                tensors.put(self.outbox, want["at"], tensor)

    def poison(self, out: list[Any]) -> None:
        """Leave NaN in the memory that a result will be given; the CPU back end always does."""
        if not self.gpu:
            return
        sizes = [math.prod(w["shape"]) for w in out]
        blocks = [torch.full((n,), torch.nan, device="cuda") for n in sizes for _ in range(4)]
        del blocks

    def synchronize(self) -> None:
        """Wait for the device, so that a kernel's error surfaces at the call that caused it.

        A launch that failed at once (an empty grid) shows only at the next launch: so there is one here.
        """
        if self.device == "cuda":
            torch.zeros(1, device="cuda")
            torch.cuda.synchronize()

    def _argument(self, argument: dict[str, Any], double: bool) -> Any:
        if "slot" not in argument:
            return argument["value"]
        slot = argument["slot"]
        there = slot["device"] == "cuda"
        copied = not (self.gpu and there)
        tensor = tensors.take(self.inbox, slot, self.device if there else "cpu", copied=copied)
        return tensor.double() if double and tensor.is_floating_point() else tensor
