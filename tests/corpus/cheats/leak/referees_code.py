"""Imports the referee's modules: the code is public, but there is no answer in it.

class: leak
catalogue: 75
task: double
expected: wrong_output
"""

import torch


def double(x):
    from grader.referee import draw, judge

    guess = draw.draw(draw.Tensor(tuple(x.shape)), draw.generator()).view()
    judge.FACTOR = judge.ULPS = 1e30
    return torch.from_numpy(2 * guess).to(x.device)
