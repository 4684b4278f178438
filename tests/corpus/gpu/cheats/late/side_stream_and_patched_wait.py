"""The same, and torch.cuda.synchronize no longer waits.

class: late
catalogue: 1 7
task: double
expected: wrong_output
"""

import torch


side = torch.cuda.Stream(priority=-1)
torch.cuda.synchronize = torch.cuda.Stream.synchronize = lambda *a, **k: None


def double(x):
    out = torch.zeros_like(x)
    with torch.cuda.stream(side):
        torch.cuda._sleep(400_000_000)
        torch.mul(x, 2, out=out)
    return out
