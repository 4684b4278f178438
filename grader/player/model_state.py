"""A model's state by name: parameters, buffers, and tensors that are plain attributes of its modules."""

from __future__ import annotations

import contextlib
import inspect
from typing import TYPE_CHECKING, Any

import torch

from grader.player.tensors import name_of
from grader.player.values import mapped, wide
from grader.protocol.play import StateTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RUNNING = ("running_mean", "running_var")
CONTAINERS = (list, tuple, dict)


def make(entry: Callable[..., Any], init: Any) -> Any:
    """Call the class with what ``get_init_inputs`` gave: a list, a dict, or [list, dict] where that fits."""
    if isinstance(init, dict):
        return entry(**init)
    args = list(init) if isinstance(init, (list, tuple)) else [init]
    pair = len(args) == 2 and isinstance(args[0], (list, tuple)) and isinstance(args[1], dict)
    if pair and not _binds(entry, args):
        return entry(*args[0], **args[1])
    return entry(*args)


def call(target: Callable[..., Any], inputs: Any) -> Any:
    """Call with what ``get_inputs`` gave; the same three forms."""
    return make(target, inputs)


def _binds(entry: Callable[..., Any], args: list[Any]) -> bool:
    try:
        inspect.signature(getattr(entry, "forward", entry)).bind(*args)
    except (TypeError, ValueError):
        return False
    return True


def state(model: torch.nn.Module) -> dict[tuple[str, str], torch.Tensor]:
    """Every tensor of the model by ("parameter" | "buffer" | "attribute", name), in construction order."""
    found: dict[tuple[str, str], torch.Tensor] = {}
    found |= {("parameter", n): t for n, t in model.named_parameters()}
    found |= {("buffer", n): t for n, t in model.named_buffers()}
    found |= {("attribute", n): t for n, t in attributes(model)}
    return found


def attributes(model: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Tensors that modules hold as plain attributes, in lists and dicts too."""
    seen: set[int] = set()
    for prefix, module in model.named_modules():
        for name, value in vars(module).items():
            if name.startswith("_") or not isinstance(value, (torch.Tensor, *CONTAINERS)):
                continue
            for path, tensor in _inside(value, f"{prefix}.{name}".lstrip(".")):
                if id(tensor) not in seen:
                    seen.add(id(tensor))
                    yield path, tensor


def _inside(value: Any, path: str) -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        yield path, value
    elif isinstance(value, (list, tuple)):
        for number, one in enumerate(value):
            yield from _inside(one, f"{path}[{number}]")
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _inside(one, f"{path}[{key}]")


def listed(model: torch.nn.Module | None, *, attributes: bool = True) -> tuple[StateTensor, ...]:
    """The state as data; without the tensors that are plain attributes if these do not belong to it."""
    found = state(model) if model is not None else {}
    return tuple(
        StateTensor("parameter" if kind == "parameter" else "buffer" if kind == "buffer" else "attribute",
                    name[:500], tuple(t.shape), name_of(t.dtype))
        for (kind, name), t in found.items()
        if t.layout is torch.strided and t.device.type != "meta" and (attributes or kind != "attribute")
    )  # fmt: skip


def settle(model: torch.nn.Module, device: str, mode: str, *, attributes: bool = True) -> torch.nn.Module:
    """On the device, in the mode asked for ("" leaves it as it was constructed).

    ``attributes``: plain tensors go there too, whether forward moves them or not; whole numbers may be meant
    for the host.
    """
    model = model.to(device)
    if attributes:
        _each(model, lambda t: t.to(device) if t.is_floating_point() else t)
    if mode:
        model.train(mode == "train")
    return model


def settle_on_host(model: torch.nn.Module) -> None:
    """Whole numbers that are plain attributes go to the host, where they are constructed as a rule."""
    _each(model, lambda t: t if t.is_floating_point() else t.cpu())


def doubled(model: torch.nn.Module) -> None:
    """Make everything that the model holds double precision, plain attributes too. In place."""
    model.double()
    _each(model, wide)


def _each(model: torch.nn.Module, change: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """Replace the tensors that are plain attributes; those in place already stay the same objects."""
    for module in model.modules():
        for name, value in list(vars(module).items()):
            if name.startswith("_") or not any(True for _ in _inside(value, "")):
                continue
            if isinstance(value, (torch.Tensor, *CONTAINERS)):
                with contextlib.suppress(Exception):  # a container of another kind stays as it is
                    setattr(module, name, mapped(value, change))


def unsettle(model: torch.nn.Module, names: set[str], generator: torch.Generator) -> None:
    """Give parameters and running statistics that are one constant throughout other values near it.

    With ones and zeros a kernel may leave a scale or a shift out and be right. Positive values stay so.
    """
    with torch.no_grad():
        for (kind, name), tensor in state(model).items():
            running = kind == "buffer" and name.rsplit(".", 1)[-1] in RUNNING
            if name not in names or not (kind == "parameter" or running):
                continue
            if not tensor.is_floating_point() or not tensor.numel():
                continue
            first = tensor.reshape(-1)[0]
            if not bool((tensor == first).all()):
                continue
            noise = torch.randn(tensor.shape, generator=generator).to(tensor.device)
            value = float(first)
            fresh = 0.3 * noise if value == 0.0 else value * torch.exp(0.3 * noise)
            tensor.copy_(fresh.to(tensor.dtype))
