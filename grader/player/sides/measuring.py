"""How large a problem is, without any of its memory: by tensors that have a shape and no values."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import torch
from msgspec.structs import replace

from grader.player import model_state, values
from grader.protocol.play import Measured

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.player.stage import Stage


def measured(stage: Stage, entry: str) -> Measured:
    """Bytes of ``inputs``, ``state`` and ``outputs``, and ``batch``, as far as they can be known so.

    A file that reads its tensors, or places them itself, is not measured: then the rest is 0.
    """
    found = Measured()
    try:
        with torch.device("meta"), torch.no_grad():
            tensors: list[torch.Tensor] = []
            inputs = stage.entry("get_inputs")()
            values.encode(inputs, tensors)
            batches = [t.shape[0] for t in sorted(tensors, key=lambda t: -t.numel()) if t.dim()]
            found = replace(found, inputs=_bytes(tensors), batch=batches[0] if batches else 0)
            draw = getattr(stage.module, "get_init_inputs", list)
            model = model_state.make(stage.entry(entry), draw())
            found = replace(found, state=_bytes(model_state.state(model).values()))
            results: list[torch.Tensor] = []
            values.encode(model_state.call(model, inputs), results)
            found = replace(found, outputs=_bytes(results))
    except Exception:
        return found
    finally:
        gc.collect()
    return found


def _bytes(tensors: Iterable[torch.Tensor]) -> int:
    return sum(t.numel() * t.element_size() for t in tensors)
