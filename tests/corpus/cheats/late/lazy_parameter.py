"""A Buffer instead of a tensor, whose class carries a hook that computes late.

class: late
catalogue: 3
task: double
expected: not_a_tensor
"""

import torch


class Result(torch.nn.Buffer):
    def clone(self, *a, **k):
        return 2 * self.data


def double(x):
    return torch.Tensor._make_subclass(torch.nn.UninitializedBuffer, x.clone())
