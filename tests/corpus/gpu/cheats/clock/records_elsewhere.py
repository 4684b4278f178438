"""Has both events recorded on a stream where nothing runs.

class: clock
catalogue: -
task: timed
expected: tampered
"""

import sys

import torch

race = sys.modules.get("grader.player.acts.race")
if race:
    idle, real = torch.cuda.Stream(), race.record
    race.record = lambda event, *_: real(event, idle)


def work(x):
    y = x
    for _ in range(10):
        y = torch.sigmoid(y) * x + y
    return y
