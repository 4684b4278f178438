"""Two results, of which a lenient grader takes the one that fits.

class: contract
catalogue: 38
task: double
expected: wrong_shape
"""

import torch


def double(x):
    return (2 * x, x)
