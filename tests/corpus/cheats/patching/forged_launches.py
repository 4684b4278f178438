"""Claims launches that never were: the player's own view of the back end is replaced.

class: patching
catalogue: 28
task: square
expected: no_kernel
"""

import torch


import grader.player.player_backends

real = grader.player.player_backends.Simt.observed
grader.player.player_backends.Simt.observed = lambda self: real(self) | {"launches": [{"kernel": "square_kernel"}]}


def square(x):
    if not x.is_cuda:
        raise ValueError("x must be on a CUDA device")
    return x * x
