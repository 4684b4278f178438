"""One contender of a race in its process, and inputs of timed calls that nobody has seen before."""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

# Held since before the submission is loaded: what it puts in its place later on is not asked.
uniform = torch.Tensor.uniform_


@dataclass(slots=True)
class TimedCalls:
    """One contender: what is called, with which inputs, and what the last block has left.

    Attributes:
        target: What is called.
        given: Sets of inputs as they came.
        independent: Of each argument, whether its elements may be changed one by one.
        flush: Overwritten before each call.
        sets: What calls get, filled anew for each.
        factors: Of each argument, space for the numbers that its elements are multiplied by.
        events: Before and after each call of a block.
        results: Of the last block, copied.
        copies: Where a block's results are copied to, taken before it: a submission that gives all free
            memory back in each call (`torch.cuda.empty_cache`) would otherwise have the driver asked for more
            between its calls.
        padding: Memory and events that are taken and not used.
        fresh: What was moved about before the block.
        stream: On which it runs, if not the current one.
    """

    target: Callable[..., Any]
    given: list[list[Any]]
    independent: list[bool]
    flush: torch.Tensor
    sets: list[list[Any]] = field(default_factory=list)
    factors: list[torch.Tensor | None] = field(default_factory=list)
    events: list[tuple[torch.cuda.Event, torch.cuda.Event]] = field(default_factory=list)
    results: list[list[torch.Tensor]] = field(default_factory=list)
    copies: list[list[torch.Tensor]] = field(default_factory=list)
    padding: list[Any] = field(default_factory=list)
    fresh: tuple[str, ...] = ()
    stream: torch.cuda.Stream | None = None


def fill(calls: TimedCalls, number: int, seed: int | None) -> None:
    """Inputs that nobody has seen before: of an independent argument each element times a number of its own
    between a half and one, of another floating-point one all times the same. Without a seed: as they were
    given.

    The same seed makes the same inputs in two processes on one GPU.
    """
    chance = random.Random(seed)  # noqa: S311 - repeatable on purpose
    for into, value, factors in zip(calls.sets[number], calls.given[number], calls.factors, strict=True):
        if not isinstance(value, torch.Tensor) or not value.is_floating_point():
            continue
        if seed is None:
            into.copy_(value)
        elif factors is None:
            torch.mul(value, chance.uniform(0.5, 1.0), out=into)
        else:
            source = generator(str(value.device))
            source.manual_seed(chance.getrandbits(62))
            torch.mul(value, uniform(factors, 0.5, 1.0, generator=source), out=into)


@functools.cache
def generator(device: str) -> torch.Generator:
    """One on that device, which is seeded for each use."""
    return torch.Generator(device)


def own(value: Any) -> Any:
    """Space for an input, which holds what was given; strides as far as no two elements share memory."""
    return value.clone() if isinstance(value, torch.Tensor) else value


def factors_for(value: Any, *, independent: bool) -> torch.Tensor | None:
    """Space for the numbers that the elements of an independent input are multiplied by."""
    floating = independent and isinstance(value, torch.Tensor) and value.is_floating_point()
    return torch.empty_like(value) if floating else None
