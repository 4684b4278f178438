"""All generators return ones and every seed is 0: inputs drawn in this process would be known.

class: patching
catalogue: 69 47
task: double
expected: wrong_output
"""

import numpy as np
import torch


torch.randn = torch.rand = lambda *shape, **k: torch.ones(*shape)
torch.manual_seed = torch.seed = lambda *a: 0
np.random.default_rng = lambda *a: None


def double(x):
    return torch.full_like(x, 2.0)
