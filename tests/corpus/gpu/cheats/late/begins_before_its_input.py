"""A stream of its own is waited for, but does not wait for the one that writes the input.

class: late
catalogue: 1
task: double
expected: wrong_output
"""

import torch


side = torch.cuda.Stream()


def double(x):
    with torch.cuda.stream(side):
        y = 2 * x
    torch.cuda.current_stream().wait_stream(side)
    return y
