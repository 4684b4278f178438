"""Two results for one input, by chance: each is within float32's error, they differ in bits.

class: touching
catalogue: 40
task: double
expected: wrong_output
"""

import torch


calls = 0


def double(x):
    global calls
    calls += 1
    return 2 * x * (1 + 1.2e-7 * (calls % 2))
