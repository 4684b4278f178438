"""A reference that asks for the GPU, on a machine without one: its words for the device mean the CPU."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode


class OnCpu(TorchFunctionMode):
    """Within it ``device="cuda"``, ``.cuda()`` and ``.to("cuda")`` leave tensors on the CPU."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        named = dict(kwargs or {})
        if func is torch.Tensor.cuda:
            return args[0]
        if "device" in named:
            named["device"] = _cpu(named["device"])
        if func is torch.Tensor.to:
            args = tuple(_cpu(a) if number else a for number, a in enumerate(args))
        return func(*args, **named)


def _cpu(value: Any) -> Any:
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device("cpu")
    return "cpu" if isinstance(value, str) and value.startswith("cuda") else value


def mentions_cuda(text: str) -> bool:
    """Whether a reference asks for the GPU by name, so that its words are taken for this machine's CPU."""
    return "cuda" in text
