"""An assertion on the device fails.

class: death
catalogue: 105
task: double
expected: cuda_error
"""

import torch


def double(x):
    torch._assert_async(torch.zeros((), device=x.device))
    return 2 * x
