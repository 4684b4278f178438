"""Imports the referee's modules: the code is public, but there is no answer in it.

class: leak
catalogue: 75
task: double
expected: wrong_output
"""

import torch


def double(x):
    from grader.domain import inputs, task
    from grader.referee import judge

    guess = inputs.draw(task.Tensor(tuple(x.shape)), inputs.generator()).view()
    judge.FACTOR = judge.ULPS = 1e30
    return torch.from_numpy(2 * guess).to(x.device)
