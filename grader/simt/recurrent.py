"""LSTM and GRU cells, which torch computes for a GPU by operators that have no kernel for a CPU."""

from __future__ import annotations

import functools
from typing import Any

Maybe = Any


@functools.cache
def install() -> Any:
    """Register the two cells for the cuda device; the registration lives as long as what is returned."""
    import torch

    library = torch.library.Library("aten", "IMPL")

    def lstm(
        gates: Any, hidden: Any, cell: Any, bias: Maybe = None, other: Maybe = None
    ) -> tuple[Any, Any, Any]:
        whole = _sum(gates, hidden, bias, other)
        i, f, g, o = whole.chunk(4, 1)
        i, f, g, o = torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)
        new = f * cell + i * g
        return o * torch.tanh(new), new, torch.cat([i, f, g, o], 1)

    def gru(gates: Any, hidden: Any, state: Any, bias: Maybe = None, other: Maybe = None) -> tuple[Any, Any]:
        given = (gates if bias is None else gates + bias).chunk(3, 1)
        kept = (hidden if other is None else hidden + other).chunk(3, 1)
        r, z = torch.sigmoid(given[0] + kept[0]), torch.sigmoid(given[1] + kept[1])
        n = torch.tanh(given[2] + r * kept[2])
        return n + z * (state - n), torch.cat([r, z, n, state, kept[2]], 1)

    library.impl("_thnn_fused_lstm_cell", lstm, "CUDA")
    library.impl("_thnn_fused_gru_cell", gru, "CUDA")
    return library


def _sum(gates: Any, hidden: Any, bias: Maybe, other: Maybe) -> Any:
    whole = gates + hidden
    return whole if bias is None else whole + bias + other
