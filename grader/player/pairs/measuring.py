"""How large a problem is, without any of its memory: by tensors that have a shape and no values."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import torch

from grader.player import model_state, values

if TYPE_CHECKING:
    from grader.player.stage import Stage


def measured(stage: Stage, entry: str) -> dict[str, Any]:
    """Bytes of ``inputs``, ``state`` and ``outputs``, and ``batch``, as far as they can be known so.

    A file that reads its tensors, or places them itself, is not measured: then the answer is empty.
    """
    sizes: dict[str, Any] = {}
    try:
        with torch.device("meta"), torch.no_grad():
            tensors: list[torch.Tensor] = []
            inputs = stage.entry("get_inputs")()
            values.encode(inputs, tensors)
            sizes["inputs"] = sum(t.numel() * t.element_size() for t in tensors)
            batches = [t.shape[0] for t in sorted(tensors, key=lambda t: -t.numel()) if t.dim()]
            sizes["batch"] = batches[0] if batches else 0
            draw = getattr(stage.module, "get_init_inputs", list)
            model = model_state.make(stage.entry(entry), draw())
            sizes["state"] = sum(t.numel() * t.element_size() for t in model_state.state(model).values())
            found: list[torch.Tensor] = []
            values.encode(model_state.call(model, inputs), found)
            sizes["outputs"] = sum(t.numel() * t.element_size() for t in found)
    except Exception:
        return sizes
    finally:
        gc.collect()
    return sizes
