"""A kernel on a stream of its own, which neither waits for the current one nor is waited for.

class: late
catalogue: 1
task: double
expected: wrong_output
"""

import torch


side = torch.cuda.Stream()


def double(x):
    with torch.cuda.stream(side):
        return 2 * x
