"""An exception whose text raises another one.

class: death
catalogue: 78
task: double
expected: raised
"""

import torch



class Odd(Exception):
    def __str__(self):
        raise Odd

    __repr__ = __str__


def double(x):
    raise Odd
