"""The same, with the class made by type(), which no search for 'class' finds.

class: late
catalogue: 3
task: double
expected: not_a_tensor
"""

import torch


def later(cls, func, types, args=(), kwargs=None):
    with torch._C.DisableTorchFunctionSubclass():
        return func(*[2 * a if type(a) is cls else a for a in args], **(kwargs or {}))


Kind = type("Tensor", (torch.Tensor,), {"__torch_function__": classmethod(later)})


def double(x):
    return torch.Tensor._make_subclass(Kind, x.clone())
