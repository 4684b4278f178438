"""Work that keeps a device busy before calls that follow each other, and that can be checked.

A GPU that waits for its host hides a call in the host's own time. So before calls that follow each other it
gets work to do until they have all been asked for. That it did this work, and how much of it, is not taken on
trust: each step needs the result of the one before, a product of matrices of float64 that nobody has a
shorter way to, and the sum of the last one is part of the answer.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

# Held since before the submission is loaded: what it puts in their place later on is not asked.
mm, absolute = torch.mm, torch.Tensor.abs_
deterministic, be_deterministic = (
    torch.are_deterministic_algorithms_enabled,
    torch.use_deterministic_algorithms,
)
SMALLEST, LARGEST = 256, 4096  # rows
LEAST_S = 100e-6  # of a step


@functools.cache
def matrices(size: int, device: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Generator]:
    """Weights that keep a vector's length, the same in all processes on a device; two more to compute in."""
    source = torch.Generator(device)
    source.manual_seed(size)
    new = functools.partial(torch.empty, size, size, dtype=torch.float64, device=device)
    return new().normal_(0.0, size**-0.5, generator=source), new(), new(), source


def keep_busy(size: int, steps: int, seed: int, device: str) -> torch.Tensor:
    """Ask for so many steps from a start that ``seed`` gives; the mean of the last one, shape (), float64.

    x becomes |x W|: a product cannot be put before a magnitude, so no power of W is of use. Two ways to
    multiply differ by a rounding, and no step makes that larger.
    """
    weights, x, y, source = matrices(size, device)
    source.manual_seed(seed)
    strict = deterministic()
    if strict:  # cuBLAS is not, unless it was configured before the process began
        be_deterministic(mode=False)
    try:
        x.uniform_(generator=source)
        for _ in range(steps):
            mm(x, weights, out=y)
            x, y = absolute(y), x
    finally:
        if strict:
            be_deterministic(mode=True)
    return x.mean()


def size_for(seconds: Callable[[int], float]) -> tuple[int, float]:
    """A size whose step takes long enough to be asked for in time, and the seconds that ``seconds`` gives."""
    size = SMALLEST
    while (step_s := seconds(size)) < LEAST_S and size < LARGEST:
        size *= 2
    return size, step_s
