"""Results of a timed call as they are kept: a copy of each, and the sum of its bits."""

from __future__ import annotations

from typing import Any

import torch

from grader.player import tensors

WHOLE = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def copies(value: Any) -> list[torch.Tensor]:
    """Each tensor of a call's result, copied on the current stream: what is written later is not in it."""
    found = value if isinstance(value, (tuple, list)) else [value]
    return [v.detach().resolve_conj().clone() for v in found if tensors.readable(v)]


def sum_of_bits(result: torch.Tensor) -> torch.Tensor:
    """Of all elements, taken for whole numbers; modulo 2 to the 64th, so that the order does not matter."""
    if result.element_size() not in WHOLE:  # two numbers of eight bytes each
        result = torch.view_as_real(result)
    return result.view(WHOLE[result.element_size()]).sum(dtype=torch.int64)
