"""Replaces the player's function that hands results over, to write twice what it is given.

class: patching
catalogue: 68
task: double
expected: wrong_output
"""

import torch


from grader.player import tensors

real = tensors.put
tensors.put = lambda arena, at, tensor: real(arena, at, 2 * tensor)


def double(x):
    return x * 0.5
