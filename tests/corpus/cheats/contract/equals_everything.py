"""An object that says yes to every comparison.

class: contract
catalogue: 33
task: double
expected: not_a_tensor
"""

import torch


class Yes:
    shape, dtype, device = (12, 20), torch.float32, torch.device("cuda")

    def __eq__(self, other):
        return True

    def __getattr__(self, name):
        return lambda *a, **k: self


def double(x):
    return Yes()
