"""The sigmoid by tanh: another formula with errors of its own.

class: honest
catalogue: -
task: sigmoid
expected: passed
"""

import torch


def sigmoid(x):
    return torch.where(x > -2, 0.5 + 0.5 * torch.tanh(x / 2), torch.exp(x) / (1 + torch.exp(x)))
