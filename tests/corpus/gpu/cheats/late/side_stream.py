"""Works on a stream of its own and returns without waiting for it.

class: late
catalogue: 1
task: double
expected: wrong_output
"""

import torch


side = torch.cuda.Stream()


def double(x):
    out = torch.ones_like(x)
    torch.cuda.current_stream().synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(400_000_000)
        out.copy_(2 * x)
    return out
