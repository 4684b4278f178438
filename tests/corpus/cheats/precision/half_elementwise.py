"""Through half precision and back.

class: precision
catalogue: 56
task: double
expected: precision
"""

import torch


def double(x):
    return (2.1 * x.half() / 1.05).float()
