"""A file in this process: it is loaded here, what it defines is found, and called as every call is made."""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.util
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import torch

from grader.backends.simt.runtime import value_origins
from grader.domain.task import EXTENSION
from grader.player import built_modules, late_inputs, other_stream, python_hooks, torch_modes, values
from grader.player.other_stream import OtherStream

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from grader.player.device_arena import DeviceArena
    from grader.player.other_stream import CallApart
    from grader.protocol.arena import Arena

# Without a GPU these have interpreters, which must be chosen before they are imported.
DIALECT = re.compile(r"^[ \t]*(?:import|from)\s[^\n#]*\b(?:triton|numba)\b", re.M)
Kind = TypeVar("Kind")


class MissingEntryError(Exception):
    """The submission lacks the name that is to be called."""


def _taken() -> Callable[[list[torch.Tensor]], None]:
    """How the CPU back end, if it is the one here, is told that results are read."""
    device = sys.modules.get("grader.backends.simt.runtime.device")
    active = device.ACTIVE if device else []
    return active[0].taken if active else lambda _: None


class Stage:
    """One submission (or reference) in this process.

    ``device`` is where tensors meant for the GPU are put: "cuda", or "cpu" for a reference that runs beside
    the CPU back end. ``last``: the tensors of the last call's result.
    """

    def __init__(self, inbox: Arena, outbox: Arena, device: str) -> None:
        self.inbox, self.outbox, self.device = inbox, outbox, device
        self.shared: dict[int, DeviceArena] = {}  # memory of the device, by the referee's numbers
        self.given: list[int] = []  # open files that came with a request
        self.passing: list[int] = []  # and those that go with its answer, and are then closed here
        self.gpu = device == "cuda" and "grader.backends.simt.runtime.device" not in sys.modules
        self.memory = "cuda" if self.gpu else "cpu"  # what a tensor's memory really is
        self.origins = value_origins.held()  # since before anything foreign is loaded
        self._taken: Callable[[list[torch.Tensor]], None] = _taken()
        self._begin()

    def _begin(self) -> None:
        self.path = ""
        self.module: ModuleType | None = None
        self.last: list[torch.Tensor] = []
        self.again: Callable[[], Any] = lambda: None
        self._kept: dict[type, Any] = {}
        self._host_s = 0.0  # that the host took for the last call whose inputs were there

    def begin_anew(self) -> dict[str, object]:
        """Forget the file and all that came of it. What other players shared with this one is given back."""
        self._begin()
        sys.modules.pop("submission", None)
        while self.shared:
            self.shared.popitem()[1].close()
        gc.collect()
        if self.gpu:
            self.synchronize()
            torch.cuda.empty_cache()
        return {}

    def kept(self, kind: type[Kind], make: Callable[[], Kind]) -> Kind:
        """The one object of that type that outlives a request, made when it is first asked for."""
        if kind not in self._kept:
            self._kept[kind] = make()
        found: Kind = self._kept[kind]
        return found

    def load(self, path: str, folders: tuple[str, ...] = ()) -> dict[str, object]:
        """Import the file at ``path``; what it imports may lie beside it, or in ``folders``."""
        self.path = path
        for folder in (str(Path(path).parent), *folders):
            if folder not in sys.path:
                sys.path.append(folder)  # last, so that no file beside the submission shadows a library
        text = "" if self.gpu else Path(path).read_text("utf-8", errors="replace")
        if "compile" in text and "grader.backends.simt.runtime.device" in sys.modules:
            importlib.import_module("grader.backends.simt.runtime.uncompiled").install()
        built_modules.note()
        if DIALECT.search(text):
            with contextlib.suppress(ImportError):  # the file itself then says what is missing
                importlib.import_module("grader.lesson_support.dialects")
        spec = importlib.util.spec_from_file_location("submission", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["submission"] = module
        modes, hooks = torch_modes.count(), python_hooks.those_on()
        spec.loader.exec_module(module)
        torch_modes.end_those_above(modes, "the import of the file")
        python_hooks.end_those_since(hooks, "the import of the file")
        self.module = module
        return {}

    def entry(self, name: str) -> Callable[..., Any]:
        """The submission's function or class of that name; ``extension.NAME``: what its extension binds."""
        bound = name.removeprefix(EXTENSION)
        if bound != name:
            compiled = built_modules.function(bound)
            if compiled is None:
                raise MissingEntryError(f"no extension that the file builds binds {bound}")
            return compiled
        found = getattr(self.module, name, None)
        if found is None:
            raise MissingEntryError(f"the file defines no {name}")
        if not callable(found):
            raise MissingEntryError(f"{name} is not a function or class")
        return found  # type: ignore[no-any-return]

    def invoke(
        self,
        call: Callable[[], Any],
        inputs: list[torch.Tensor],
        how: str,
        watch: contextlib.AbstractContextManager[Any],
    ) -> tuple[Any, list[Any]]:
        """Make a call as every call is made; what it returned, and its tensors as they were right after it.

        ``watch`` sees the call and nothing else.

        On a GPU all but "new" inputs come late (:mod:`grader.player.late_inputs`), and the tensors are
        copies. Those wait for the current stream only, which is the default one: what a stream still does
        that the driver does not keep in order with it comes too late for them.
        """
        late = self.gpu and how != "new"
        if late:
            late_inputs.give_late(inputs, self.device, self._host_s)
        with watch, torch.no_grad():
            begun = time.perf_counter()
            value = call()
            if not late:  # else it may have waited for them
                self._host_s = time.perf_counter() - begun
        found: list[torch.Tensor] = []
        values.encode(value, found)
        seen = other_stream.copied(value) if self.gpu else found
        self._taken(found)
        self.synchronize()
        self.again = call
        return value, seen

    def invoke_apart(self, call: Callable[[], Any], hold_s: float, sizes: tuple[int, ...]) -> CallApart:
        """Make a call with another current stream (:mod:`grader.player.other_stream`).

        ``hold_s``: the default stream is held back for so many seconds; 0: kernels are traced instead.
        ``sizes``: elements of the results that are expected. Without a GPU only the call is made.
        """
        other = self.kept(OtherStream, OtherStream)
        if not self.gpu:
            found = other.plainly(call)
        elif hold_s:
            found = other.held(call, hold_s, lambda: self.poison(sizes))
        else:
            found = other.traced(call)
        self.synchronize()
        return found

    def seed(self, seed: int) -> None:
        """Seed torch's random numbers.

        Without a GPU not by ``torch.manual_seed``: it keeps three stacks for devices that are not here,
        and takes 2 ms (torch 2.13).
        """
        if self.gpu:
            torch.manual_seed(seed)
        else:
            torch.default_generator.manual_seed(seed)

    def poison(self, sizes: tuple[int, ...]) -> None:
        """Leave NaN in the memory that results of these sizes will be given; the CPU back end always does."""
        if self.gpu:
            blocks = [torch.full((n,), torch.nan, device=self.device) for n in sizes for _ in range(4)]
            del blocks

    def synchronize(self) -> None:
        """Wait for the device, so that a kernel's error surfaces at the call that caused it.

        A launch that failed at once (an empty grid) shows only at the next launch: so there is one here.
        """
        if self.gpu or self.device == "cuda":
            torch.zeros(1, device=self.device)
            torch.cuda.synchronize()
