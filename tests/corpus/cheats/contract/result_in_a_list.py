"""The result in a list of one: a comparison may unpack it, and the element is wrong.

class: contract
catalogue: 38
task: double
expected: wrong_shape
"""

import torch


def double(x):
    return [x]
