"""One contender of a race in its process, and inputs of timed calls that nobody has seen before."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

# Held since before the submission is loaded: what it puts in its place later on is not asked.
uniform = torch.Tensor.uniform_


@dataclass(slots=True)
class Track:
    """One contender. ``given``: sets of inputs as they came; ``sets``: what calls get, filled anew for each.

    ``loose`` says of each argument whether its elements may be changed one by one. ``room``: where a block's
    results are copied to, taken before it: a submission that gives all free memory back in each call
    (`torch.cuda.empty_cache`) would otherwise have the driver asked for more between its calls.
    """

    target: Callable[..., Any]
    given: list[list[Any]]
    loose: list[bool]
    flush: torch.Tensor
    sets: list[list[Any]] = field(default_factory=list)
    noise: list[torch.Tensor | None] = field(default_factory=list)
    events: list[tuple[torch.cuda.Event, torch.cuda.Event]] = field(default_factory=list)
    results: list[list[torch.Tensor]] = field(default_factory=list)
    room: list[list[torch.Tensor]] = field(default_factory=list)
    padding: list[Any] = field(default_factory=list)
    fresh: tuple[str, ...] = ()
    stream: torch.cuda.Stream | None = None


def fill(track: Track, number: int, seed: int | None) -> None:
    """Inputs that nobody has seen before: of a loose argument each element times a number of its own between
    a half and one, of another floating-point one all times the same. Without a seed: as they were given.

    The same seed makes the same inputs in two processes on one GPU.
    """
    chance = random.Random(seed)  # noqa: S311 - repeatable on purpose
    for into, value, room in zip(track.sets[number], track.given[number], track.noise, strict=True):
        if not isinstance(value, torch.Tensor) or not value.is_floating_point():
            continue
        if seed is None:
            into.copy_(value)
        elif room is None:
            torch.mul(value, chance.uniform(0.5, 1.0), out=into)
        else:
            source = generator(str(value.device))
            source.manual_seed(chance.getrandbits(62))
            torch.mul(value, uniform(room, 0.5, 1.0, generator=source), out=into)


@functools.cache
def generator(device: str) -> torch.Generator:
    """One on that device, which is seeded for each use."""
    return torch.Generator(device)


def own(value: Any) -> Any:
    """Room for a call's input, which holds what was given; strides as far as no two elements share memory."""
    return value.clone() if isinstance(value, torch.Tensor) else value


def noise(value: Any, loose: bool) -> torch.Tensor | None:
    """Room for the numbers that a loose input is multiplied by."""
    floating = loose and isinstance(value, torch.Tensor) and value.is_floating_point()
    return torch.empty_like(value) if floating else None
