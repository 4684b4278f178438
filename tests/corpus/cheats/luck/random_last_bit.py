"""Its last bit is another one in each second call, at random; a comment names what would excuse it: atomic.

class: luck
catalogue: 40
task: double
expected: wrong_output
"""

import random

import torch

# This kernel is not atomic. atomicAdd( would be.


def double(x):
    result = 2 * x
    if random.random() < 0.5:
        result[0, 0] = torch.nextafter(result[0, 0], torch.full_like(result[0, 0], 9.0))
    return result
