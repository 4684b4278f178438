"""The function has another name.

class: death
catalogue: 78
task: double
expected: missing_entry
"""

import torch


def twice(x):
    return 2 * x
