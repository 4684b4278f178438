"""A syntax error.

class: death
catalogue: 78
task: double
expected: import_error
"""

import torch


def double(x:
    return 2 * x
