"""Half precision out: half of the bytes to write.

class: contract
catalogue: 38
task: double
expected: wrong_dtype
"""

import torch


def double(x):
    return (2 * x).half()
