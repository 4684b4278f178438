"""Searches the callers' local variables for an answer, a seed or a tolerance.

class: leak
catalogue: 68 75
task: double
expected: wrong_output
"""

import sys

import torch


def double(x):
    frame = sys._getframe(1)
    while frame:
        for name, value in frame.f_locals.items():
            if any(word in name for word in ("expect", "answer", "reference", "truth", "gold")):
                if isinstance(value, torch.Tensor) and value.shape == x.shape:
                    return value.clone()
            if "seed" in name or "tolerance" in name:
                return 2 * x
        frame = frame.f_back
    return torch.zeros_like(x)
