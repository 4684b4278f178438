"""What CUDA graphs must do."""

from __future__ import annotations

import numpy as np

from .expected import Array, Expected


def capture(x: Array) -> Array:
    """All of graph_capture's outputs: three launches; six nodes, of which nothing was done before."""
    x = x.astype(np.float32)
    return np.concatenate([x + np.float32(1), np.full(len(x), 6), np.full(len(x), 3), [0, 6, 3, 1]])


def nodes(x: Array) -> Array:
    """All of graph_nodes's outputs: one launch with 5 added, one with 7."""
    x = x.astype(np.float32)
    first, second = 2 * x + np.float32(5), 2 * x + np.float32(7)
    return np.concatenate([second, second, first, second, [4]])


def changed(x: Array) -> Array:
    """All of graph_changed's outputs: each launch with what it was given."""
    x = x.astype(np.float32)
    return np.concatenate([x * np.float32(by) for by in (2, 3, 4, 5)])


GRAPHS = {
    "graph_capture": Expected(capture, 200),
    "graph_nodes": Expected(nodes, 200),
    "graph_changed": Expected(changed, 200),
    "graph_broken": Expected(lambda x: [900, 901, 1], 64),
}
