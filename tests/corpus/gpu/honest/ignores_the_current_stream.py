"""Works on the default stream, whichever the current one is: advice, and no failure.

class: honest
catalogue: -
task: double
expected: passed
"""

import torch


def double(x):
    with torch.cuda.stream(torch.cuda.default_stream()):
        return 2 * x
