"""A tensor class of its own, which computes when somebody reads it.

class: late
catalogue: 3
task: double
expected: not_a_tensor
"""

import torch


class Lazy(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        plain = [2 * torch.Tensor.as_subclass(a, torch.Tensor) if isinstance(a, Lazy) else a for a in args]
        with torch._C.DisableTorchFunctionSubclass():
            return func(*plain, **(kwargs or {}))


def double(x):
    return x.clone().as_subclass(Lazy)
