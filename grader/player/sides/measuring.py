"""How large a problem is, without any of its memory: by tensors that have a shape and no values."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import torch
from msgspec.structs import replace
from torch.overrides import TorchFunctionMode

from grader.player import model_state, values
from grader.protocol.play import Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from grader.player.stage import Stage


DRAWN: set[Any] = {torch.randn, torch.rand}
DRAWN_LIKE: set[Any] = {torch.randn_like, torch.rand_like}
DRAWN_INTO: set[Any] = {torch.Tensor.normal_, torch.Tensor.uniform_}


class _Undrawn(TorchFunctionMode):
    """Random numbers that nobody draws.

    Nobody reads them here, and to draw one without its memory torch loads half a thousand modules.
    """

    def __torch_function__(
        self, function: Callable[..., Any], types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = dict(kwargs or {})
        first = args[0] if args else given.get("tensor")
        if isinstance(first, torch.Tensor) and first.is_meta:
            into = function in DRAWN_INTO or getattr(function, "__module__", "") == "torch.nn.init"
            if into and function.__name__.endswith("_"):
                return first
            if function in DRAWN_LIKE and len(args) == 1 and not given:
                return torch.empty(first.shape, dtype=first.dtype)
        if function in DRAWN:
            given.pop("generator", None)
            return torch.empty(*args, **given)
        return function(*args, **given)


def measured(stage: Stage, entry: str, small: int = 0) -> Measured:
    """Bytes of ``inputs``, ``state`` and ``outputs``, and ``batch``, as far as they can be known so.

    A file that reads its tensors, or places them itself, is not measured: then the rest is 0. So are the
    outputs where inputs and state have no more than ``small`` bytes.
    """
    found = Measured()
    try:
        with torch.device("meta"), torch.no_grad():
            tensors: list[torch.Tensor] = []
            draw = getattr(stage.module, "get_init_inputs", list)
            with _Undrawn():
                inputs = stage.entry("get_inputs")()
                values.encode(inputs, tensors)
                batches = [t.shape[0] for t in sorted(tensors, key=lambda t: -t.numel()) if t.dim()]
                found = replace(found, inputs=_bytes(tensors), batch=batches[0] if batches else 0)
                model = model_state.make(stage.entry(entry), draw())
                found = replace(found, state=_bytes(model_state.state(model).values()))
            if found.inputs + found.state <= small:
                return found
            results: list[torch.Tensor] = []
            values.encode(model_state.call(model, inputs), results)
            return replace(found, outputs=_bytes(results))
    except Exception:
        return found
    finally:
        gc.collect()


def _bytes(tensors: Iterable[torch.Tensor]) -> int:
    return sum(t.numel() * t.element_size() for t in tensors)
