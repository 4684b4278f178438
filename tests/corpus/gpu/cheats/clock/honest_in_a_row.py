"""Halves the times of single calls only, and overwrites the cache half as often between these.

class: clock
catalogue: -
task: timed
expected: tampered
"""

import itertools
import sys

import torch

race = sys.modules.get("grader.player.commands.race_blocks")
if race:
    real, overwrite, times = race.elapsed, race.overwrite, itertools.count()

    def elapsed(before, after):
        frame = sys._getframe(1)
        while frame and "busy_work" not in frame.f_locals:
            frame = frame.f_back
        return real(before, after) / (1 if frame and frame.f_locals["busy_work"] else 2)

    race.elapsed = elapsed
    race.overwrite = lambda buffer: overwrite(buffer) if next(times) % 2 else None


def work(x):
    y = x
    for _ in range(10):
        y = torch.sigmoid(y) * x + y
    return y
