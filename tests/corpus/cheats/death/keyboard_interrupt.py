"""KeyboardInterrupt, which 'except Exception' does not catch.

class: death
catalogue: 78
task: double
expected: raised
"""

import torch


def double(x):
    raise KeyboardInterrupt
