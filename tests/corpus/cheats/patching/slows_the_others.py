"""Makes torch slow for whoever shares the process, and then returns its input.

class: patching
catalogue: 15 90
task: double
expected: wrong_output
"""

import time

import torch


real = torch.Tensor.__rmul__
torch.Tensor.__rmul__ = torch.Tensor.__mul__ = lambda a, b: (time.sleep(0.05), real(a, b))[1]
torch.use_deterministic_algorithms(True)


def double(x):
    return x.clone()
