"""Float64 out, to be closer to the answer than float32 can be.

class: contract
catalogue: 38
task: double
expected: wrong_dtype
"""

import torch


def double(x):
    return 2 * x.double()
