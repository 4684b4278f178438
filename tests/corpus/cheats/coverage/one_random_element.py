"""One element, another one each time, is wrong.

class: coverage
catalogue: 31
task: double
expected: wrong_output
"""

import torch


def double(x):
    y = 2 * x
    y.view(-1)[int(torch.randint(x.numel(), ()))] += 1
    return y
