"""An exception with a text of a hundred megabytes.

class: exhaustion
catalogue: 85
task: double
expected: raised
"""

import torch


def double(x):
    raise ValueError("x" * (100 << 20))
