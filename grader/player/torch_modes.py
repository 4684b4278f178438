"""Modes of PyTorch that a file switches on see every operation after it, the player's own among them.

So none may be left behind: not by a call, and not by the file itself, but for the default device.
"""

from __future__ import annotations

import torch
from torch.utils._device import DeviceContext

# Bound now: a file that replaces these later on changes nothing.
_functions, _pop_function = torch._C._len_torch_function_stack, torch._C._pop_torch_function_stack
_dispatches, _pop_dispatch = torch._C._len_torch_dispatch_stack, torch._C._pop_torch_dispatch_stack
_WORK = "__torch_function__"
_DEVICE = DeviceContext
_DEVICE_CODE = vars(DeviceContext)[_WORK].__code__


class ModeLeftOnError(Exception):
    """A mode was still on when it should not be."""


def count() -> tuple[int, int]:
    """How many modes of either kind are on."""
    return _functions(), _dispatches()


def end_those_above(before: tuple[int, int], when: str) -> None:
    """Switch off what came on since; ModeLeftOnError if that is more than the default device."""
    left: list[str] = []
    kept = []
    while _functions() > before[0]:
        mode = _pop_function()
        work = vars(type(mode)).get(_WORK)
        if type(mode) is _DEVICE and getattr(work, "__code__", None) is _DEVICE_CODE:
            kept.append(mode)
        else:
            left.append(type(mode).__name__)
    for mode in reversed(kept):
        torch._C._push_on_torch_function_stack(mode)
    while _dispatches() > before[1]:
        left.append(type(_pop_dispatch(None)).__name__)
    if left:
        raise ModeLeftOnError(
            f"After {when} a mode of torch was still on ({', '.join(left)}), which changes what follows. Let "
            "it end there: `with` does that."
        )
