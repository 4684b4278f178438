"""Triton's interpreter, with bounds: a load or store outside every tensor of the call is an error."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from grader.lesson_support import traffic
from grader.lesson_support.dialects.host_arrays import RecordedCalls
from grader.lesson_support.dialects.uncompilable import RefusedError, triton_refuses


class OutOfBoundsError(IndexError):
    """A program of a Triton kernel reached for memory that belongs to no tensor that it was given."""


class Ranges:
    """The tensors of the call that runs, as addresses."""

    def __init__(self) -> None:
        self.known: list[tuple[int, int, int, str]] = []  # begin, end, bytes of an element, name

    def note(self, name: str, tensor: torch.Tensor) -> None:
        """A tensor that the kernel may touch: its elements, not all of the storage that it is a view of."""
        if tensor.numel():
            size = tensor.element_size()
            last = sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True))
            begin = tensor.data_ptr()
            self.known.append((begin, begin + (last + 1) * size, size, name))

    def check(self, what: str, pointers: Any, mask: Any) -> None:
        """Raises OutOfBoundsError for the first address that is not masked off and lies nowhere."""
        at, wanted = np.broadcast_arrays(np.asarray(pointers), np.asarray(mask, dtype=bool))
        addresses = at[wanted].astype(np.uint64)
        inside = np.zeros(addresses.shape, dtype=bool)
        for begin, end, _, _ in self.known:
            inside |= (addresses >= np.uint64(begin)) & (addresses < np.uint64(end))
        if not inside.all():
            raise OutOfBoundsError(self._sentence(what, int(addresses[~inside][0])))

    def _sentence(self, what: str, address: int) -> str:
        from triton.runtime.interpreter import interpreter_builder

        program = tuple(interpreter_builder.grid_idx or ())
        if not self.known:
            return f"program {program} {what} memory, and was given no tensor with elements"
        begin, end, size, name = min(self.known, key=lambda k: min(abs(address - k[0]), abs(address - k[1])))
        element, count = (address - begin) // size, (end - begin) // size
        return (
            f"program {program} {what} element {element} of {name}, which has {count}. "
            "Is there a mask, and does it leave out what lies past the end?"
        )


def install() -> None:
    """Put bounds and our way of copying into the interpreter; a second call changes nothing."""
    from triton.runtime import interpreter

    executor, builder = interpreter.GridExecutor, interpreter.InterpreterBuilder
    if getattr(executor, "with_bounds", False):
        return
    ranges, calls = Ranges(), RecordedCalls()
    run, load, store = executor.__call__, builder.create_masked_load, builder.create_masked_store

    def quiet(self: Any, *args: Any, **named: Any) -> Any:
        with np.errstate(all="ignore"):  # a GPU does not warn of an infinity
            return run(self, *args, **named)

    def init_args(self: Any, args: Any, kwargs: dict[str, object]) -> tuple[list[object], dict[str, object]]:
        calls.__init__()  # type: ignore[misc]
        ranges.known.clear()
        named = dict(zip(self.arg_names, args, strict=False)) | kwargs
        hosts = {name: calls.host(value) for name, value in named.items()}
        for name, host in hosts.items():
            if isinstance(host, torch.Tensor):
                ranges.note(name, host)
        return [hosts[n] for n, _ in zip(self.arg_names, args, strict=False)], {k: hosts[k] for k in kwargs}

    def restore(*_: Any) -> None:
        calls.back()

    def checked_load(self: Any, ptrs: Any, mask: Any, *rest: Any) -> Any:
        ranges.check("reads", ptrs.data, mask.data)
        traffic.note("loads", int(np.sum(mask.data)))
        return load(self, ptrs, mask, *rest)

    def checked_store(self: Any, ptrs: Any, value: Any, mask: Any, *rest: Any) -> Any:
        ranges.check("writes", ptrs.data, mask.data)
        traffic.note("stores", int(np.sum(mask.data)))
        return store(self, ptrs, value, mask, *rest)

    function = interpreter.InterpretedFunction
    launch, checked = function.run, set[int]()

    def compilable(self: Any, *args: Any, **named: Any) -> Any:
        if id(self) not in checked:
            if refused := triton_refuses(self.fn):
                raise RefusedError(refused)
            checked.add(id(self))
        return launch(self, *args, **named)

    function.run = compilable
    executor.__call__ = quiet
    executor._init_args_hst, executor._restore_args_dev = init_args, restore
    builder.create_masked_load, builder.create_masked_store = checked_load, checked_store
    executor.with_bounds = True
    _untimed()


def _untimed() -> None:
    """Kernels with ``triton.autotune``: there is no clock to choose by, so each call takes the next config.

    On a GPU any of them may be chosen, and so each of them has to be right.
    """
    from triton.runtime.autotuner import Autotuner

    run, prune = Autotuner.run, Autotuner.prune_configs
    turns: dict[int, int] = {}

    def next_one(self: Any, *args: Any, **named: Any) -> Any:
        self.cache.clear()
        turns[id(self)] = turns.get(id(self), -1) + 1
        return run(self, *args, **named)

    def pruned(self: Any, *args: Any, **named: Any) -> list[Any]:
        left = prune(self, *args, **named)
        return [left[turns.get(id(self), 0) % len(left)]]

    Autotuner.run, Autotuner.prune_configs = next_one, pruned
    Autotuner._bench = lambda *_, **__: [0.0, 0.0, 0.0]
