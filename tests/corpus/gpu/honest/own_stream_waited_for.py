"""A stream of its own that waits and is waited for.

class: honest
catalogue: -
task: double
expected: passed
"""

import torch


side = torch.cuda.Stream()


def double(x):
    here = torch.cuda.current_stream()
    side.wait_stream(here)
    with torch.cuda.stream(side):
        y = 2 * x
    here.wait_stream(side)
    y.record_stream(here)
    return y
