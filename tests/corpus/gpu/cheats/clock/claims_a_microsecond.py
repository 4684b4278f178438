"""Says that every call took a microsecond.

class: clock
catalogue: -
task: timed
expected: tampered
"""

import sys

import torch

race = sys.modules.get("grader.player.commands.race_blocks")
if race:
    race.elapsed = lambda before, after: 1e-3


def work(x):
    y = x
    for _ in range(10):
        y = torch.sigmoid(y) * x + y
    return y
