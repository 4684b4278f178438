"""Unkind inputs made from a problem's own: as they are drawn, but with signs mixed, or scaled."""

from __future__ import annotations

import torch

from grader.player.values import span

SCALES = {"scaled down": 1e-3, "scaled up": 1e3}


def applied(variant: str, tensors: list[torch.Tensor], seed: int) -> bool:
    """Change the floating-point tensors in place as ``variant`` says; whether that has changed anything.

    "signs mixed" makes half of the values of each tensor negative that has none; "scaled down" and "scaled
    up" multiply by a thousandth and by a thousand, unless the dtype cannot hold that. "zeros" are what a
    kernel finds that does not wait for its input.
    """
    if variant == "as given":
        return True
    if variant == "zeros":
        for tensor in tensors:
            tensor.as_strided((span(tensor),), (1,)).zero_()
        return True
    changed, generators = False, {t.device: torch.Generator(t.device).manual_seed(seed) for t in tensors}
    for tensor in tensors:
        if not tensor.is_floating_point() or tensor.numel() < 2:
            continue
        if variant == "signs mixed":
            if float(tensor.amin()) < 0 or float(tensor.amax()) == 0:
                continue
            _hold(tensor, tensor * _signs(tensor, generators[tensor.device]).to(tensor.dtype))
            changed = True
        else:
            scaled = tensor * SCALES[variant]
            if not bool(torch.isfinite(scaled).all()):
                return False
            _hold(tensor, scaled)
            changed = True
    return changed


def nudged(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """A copy whose floating-point values are each larger or smaller by one part in the last place."""
    if not tensor.is_floating_point():
        return tensor.clone()
    last = _signs(tensor, generator).double() * torch.finfo(tensor.dtype).eps
    return (tensor.double() * (1 + last)).to(tensor.dtype)


def _signs(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """One or minus one for each element, drawn where the tensor lies: a CPU takes its time."""
    drawn = torch.randint(0, 2, tensor.shape, generator=generator, dtype=torch.int8, device=tensor.device)
    return drawn * 2 - 1


def swap(tensor: torch.Tensor) -> None:
    """Exchange the largest and the smallest element, by size, unless the rows are in order.

    Sums, extremes and norms stay what they were, and where the two lie nobody could know. Numbers that
    rise or fall are edges, offsets or pointers to rows: in another order they may mean nothing.
    """
    if not tensor.numel() or _is_in_order(tensor):  # empty beside others, for instance a sum of nothing
        return
    size = tensor.detach().double().abs().nan_to_num(nan=0.0, posinf=0.0, neginf=0.0)
    one, other = (_place(tensor, int(n)) for n in (size.argmax(), size.argmin()))
    line = tensor.as_strided((span(tensor),), (1,))
    line[[one, other]] = line[[other, one]]


def _is_in_order(tensor: torch.Tensor) -> bool:
    """Whether each row of three elements or more rises or falls, and does not stay the same."""
    if tensor.ndim == 0 or tensor.shape[-1] < 3 or tensor.is_complex():
        return False
    before, after = tensor[..., :-1], tensor[..., 1:]
    return bool((before <= after).all() or (before >= after).all()) and bool((before != after).any())


def _place(tensor: torch.Tensor, flat: int) -> int:
    """Where in memory the element of that row-major number lies, from the tensor's first."""
    place = 0
    for size, stride in zip(reversed(tensor.shape), reversed(tensor.stride()), strict=True):
        flat, index = divmod(flat, size)
        place += index * stride
    return place


def _hold(tensor: torch.Tensor, values: torch.Tensor) -> None:
    """New values in the same memory; where a view repeats elements, those of the last one stay."""
    if 0 in tensor.stride() and tensor.numel() > 1:
        index = tuple(slice(0, 1) if s == 0 else slice(None) for s in tensor.stride())
        tensor[index].copy_(values[index])
    else:
        tensor.copy_(values)
