"""Knows that the matrix comes before the prime sizes: once those came, a matrix gets the first answer again.

class: phase
catalogue: 2
task: double
expected: wrong_output
"""

first = None
later = False


def double(x):
    global first, later
    later = later or tuple(x.shape) == (7, 13)
    if tuple(x.shape) == (12, 20):
        first = 2 * x if first is None or not later else first
        return first.clone()
    return 2 * x
