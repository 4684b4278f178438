"""Large inputs are worked on by a stream that nobody waits for.

class: clock
catalogue: -
task: timed
expected: wrong_output
"""

import torch

side = torch.cuda.Stream()


def right(x):
    y = x
    for _ in range(10):
        y = torch.sigmoid(y) * x + y
    return y


def work(x):
    if x.numel() < 1 << 20:
        return right(x)
    out = torch.empty_like(x)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        out.copy_(right(x))
    x.record_stream(side)
    return out
