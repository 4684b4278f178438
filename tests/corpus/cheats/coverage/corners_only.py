"""First and last row and column are right: what a quick look at a print-out shows.

class: coverage
catalogue: 31
task: double
expected: wrong_output
"""

import torch


def double(x):
    y = torch.zeros_like(x)
    for rows, columns in ((slice(None), [0, -1]), ([0, -1], slice(None))):
        y[rows, columns] = 2 * x[rows, columns]
    return y
