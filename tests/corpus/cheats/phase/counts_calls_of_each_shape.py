"""Leaves out the last row from the seventh call of a shape on.

class: phase
catalogue: 2
task: double
expected: wrong_output
"""

from collections import Counter

calls = Counter()


def double(x):
    calls[tuple(x.shape)] += 1
    result = 2 * x
    if calls[tuple(x.shape)] > 6:
        result[-1] = 0
    return result
