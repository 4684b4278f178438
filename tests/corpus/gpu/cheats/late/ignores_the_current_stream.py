"""Works on the default stream, whatever the current one is still busy with.

class: late
catalogue: 1
task: double
expected: wrong_output
"""

import torch


def double(x):
    with torch.cuda.stream(torch.cuda.default_stream()):
        return 2 * x
