"""What a problem computes and how large it is, without any of its memory: by tensors without values."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

if TYPE_CHECKING:
    from pathlib import Path

MANY = 16  # to one: where so many results of products become one, their roundings average out
RECURRENT = ("rnn", "lstm", "gru")  # a library computes these whole, products and all


@dataclass(frozen=True, slots=True)
class Look:
    """What is known of a problem before it is run.

    Attributes:
        products: Names of its operators that TF32 changes: matrix products, convolutions, recurrent networks.
        weighted: Whether one of these has weights, which are of both signs; else all factors are inputs.
        reduced: Whether the last products' results are summed, averaged or the like, ``MANY`` or more to one.
        whole: Whether the first tensor that it returns holds whole numbers (or truth values).
        elements: How many elements that has.
        tensor_bytes: Inputs and results.
        largest_bytes: The largest result of an operator on the way.
        state_bytes: Parameters and buffers.
        unknown: Why it could not be looked at, if so.
    """

    products: tuple[str, ...] = ()
    weighted: bool = True
    reduced: bool = False
    whole: bool = False
    elements: int = 0
    tensor_bytes: int = 0
    largest_bytes: int = 0
    state_bytes: int = 0
    unknown: str = ""


class Noted(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes the operators within it: products, and what becomes of the results of the last one.

    ``last``: elements of that; ``least``: the fewest of any result after it. ``largest_bytes``: of the
    largest result of all.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.products: dict[str, None] = {}
        self.last = self.least = self.largest_bytes = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        if func.overloadpacket in flop_registry or name.strip("_").startswith(RECURRENT):
            self.products[name] = None
        result = func(*args, **(kwargs or {}))
        if name in self.products:
            self.last = self.least = _first(result)
        elif not func.is_view and (made := _first(result)):
            self.least = min(self.least, made)
        tensors = [t for t in tree_leaves(result) if isinstance(t, torch.Tensor)]
        self.largest_bytes = max([self.largest_bytes, *(_nbytes([t]) for t in tensors if not func.is_view)])
        return result


def _first(result: Any) -> int:
    """Elements of the first tensor of an operator's result; 0 if that holds no real numbers."""
    first = next(iter(tree_leaves(result)), None)
    return first.numel() if isinstance(first, torch.Tensor) and first.is_floating_point() else 0


def look(file: Path) -> Look:
    """Call the problem of that file once with tensors that have a shape and no values."""
    error: Exception | None = None
    for there in ("meta", "cpu"):  # some read values when they are constructed
        try:
            return _looked(file, there)
        except Exception as raised:
            error = raised
    return Look(unknown=f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")


def _looked(file: Path, there: str) -> Look:
    """``there``: where the model is constructed."""
    with torch.no_grad():
        with torch.device(there):
            module = _module(file)
            model = module.Model(*module.get_init_inputs()).to("meta")
        with torch.device("meta"):
            inputs = module.get_inputs()
        with torch.device("meta"), Noted() as noted:
            result = model(*inputs)
    results = [t for t in tree_leaves(result) if isinstance(t, torch.Tensor)]
    given = [t for t in tree_leaves(inputs) if isinstance(t, torch.Tensor)]
    state = [*model.parameters(), *model.buffers()]
    return Look(
        products=tuple(noted.products),
        weighted=any(p.dim() > 1 for p in model.parameters()),
        reduced=noted.least * MANY <= noted.last,
        whole=bool(results) and not results[0].is_floating_point(),
        elements=results[0].numel() if results else 0,
        tensor_bytes=_nbytes([*given, *results]),
        largest_bytes=noted.largest_bytes,
        state_bytes=_nbytes(state),
    )


def _module(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"problem_{file.stem}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _nbytes(tensors: list[torch.Tensor]) -> int:
    return sum(t.numel() * t.element_size() for t in tensors)
