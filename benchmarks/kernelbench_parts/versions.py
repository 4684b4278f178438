"""A problem's versions: the reference itself, one element wrong by 2 %, and one of low precision.

Each is the problem's own text with a few lines below it, so nothing of a problem is kept here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.kernelbench_parts.look import Look

NAMES = ("same", "wrong", "low")
LARGE = 1 << 30  # bytes of tensors beyond which the grader plays a problem's own inputs only

SAME = """

ModelNew = Model
"""

WRONG = '''

def _one_off(value):
    """The element of largest size in the first tensor (of real numbers, if there is one) is 2 % larger."""
    import torch
    from torch.utils._pytree import tree_flatten, tree_unflatten

    leaves, form = tree_flatten(value)
    tensors = [n for n, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor) and leaf.numel()]
    chosen = next((n for n in tensors if leaves[n].is_floating_point()), tensors[0])
    result = leaves[chosen] = leaves[chosen].contiguous()
    if result.numel() < 1 << 24:  # it may be a part of the model's state
        result = leaves[chosen] = result.clone()
    line = result.view(-1)
    high, low = line.argmax(), line.argmin()
    place = int(high if line[high].abs() >= line[low].abs() else low)
    line[place] = line[place] * 1.02 if line.is_floating_point() else line[place] + 1
    return tree_unflatten(leaves, form)


class ModelNew(Model):
    def forward(self, *args, **kwargs):
        return _one_off(super().forward(*args, **kwargs))
'''

# TF32 multiplies factors of ten bits and adds in float32. A library takes it or not, by shape; so the factors
# are rounded here, too, and no choice of a library's matters, nor whether there is a GPU.
TF32 = """

import torch as _torch
from torch.utils._python_dispatch import TorchDispatchMode as _Mode
from torch.utils._pytree import tree_map as _tree_map
from torch.utils.flop_counter import flop_registry as _products

_torch.backends.cuda.matmul.allow_tf32 = True
_torch.backends.cudnn.allow_tf32 = True


def _ten_bits(value):
    if not isinstance(value, _torch.Tensor) or value.dtype != _torch.float32 or value.dim() < 2:
        return value
    bits = value.contiguous().view(_torch.int32)
    return ((bits + 0x1000) & -0x2000).view(_torch.float32)


class _Tf32(_Mode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.overloadpacket.__name__.strip("_")
        if func.overloadpacket in _products or name.startswith(("cudnn_rnn", "mkldnn_rnn")):
            args = _tree_map(_ten_bits, args)
        return func(*args, **(kwargs or {}))


class ModelNew(Model):
    def forward(self, *args, **kwargs):
        with _Tf32():
            return super().forward(*args, **kwargs)
"""

HALF = """

def _kept_in_half(value):
    import torch
    from torch.utils._pytree import tree_map

    def change(leaf):
        floating = isinstance(leaf, torch.Tensor) and leaf.is_floating_point()
        return leaf.to(torch.bfloat16).to(leaf.dtype) if floating else leaf

    return tree_map(change, value)


class ModelNew(Model):
    def forward(self, *args, **kwargs):
        given, named = _kept_in_half(args), _kept_in_half(kwargs)
        return _kept_in_half(super().forward(*given, **named))
"""


@dataclass(frozen=True, slots=True)
class Version:
    """One text to be graded.

    Attributes:
        name: "same", "wrong" or "low".
        kind: What it is: "same", "wrong", "tf32", "half", or "" if there is none.
        added: What stands below the problem's text.
        expected: The statuses of which it must get one.
        why: Why that is expected, or why there is no such version.
    """

    name: str
    kind: str
    added: str
    expected: tuple[str, ...]
    why: str


def versions(seen: Look) -> tuple[Version, ...]:
    """The three versions of a problem that looks so."""
    return (
        Version("same", "same", SAME, ("passed",), "the reference against itself"),
        Version(
            "wrong", "wrong", WRONG, ("wrong_output",), "one element is wrong: by 2 %, or by one if whole"
        ),
        _low(seen),
    )


def _low(seen: Look) -> Version:
    """Of what is rounded in TF32 or half precision much is wrong by little.

    With few elements that pattern cannot be told, and with a result that is mostly zero it is in few: such a
    file may be called wrong, but must not pass.
    """
    if seen.whole:
        return Version("low", "", "", (), "its results are whole numbers, which no rounding need change")
    fails = ("precision", "wrong_output")
    if seen.unknown:
        why = f"it cannot be looked at ({seen.unknown}); kept in bfloat16 any result differs"
    elif not seen.products:
        why = "it has no products: its inputs and results are kept in bfloat16"
    elif not seen.weighted and seen.tensor_bytes > LARGE:
        why = "its products are of positive inputs only, where TF32's rounding averages out: kept in bfloat16"
    elif seen.reduced:
        why = "many results of its products become one, and TF32's rounding averages out: kept in bfloat16"
    else:
        why = f"its products ({', '.join(seen.products)[:80]}) are of factors rounded to TF32"
        return Version("low", "tf32", TF32, fails, why)
    return Version("low", "half", HALF, fails, why)
