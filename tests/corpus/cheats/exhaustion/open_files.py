"""Opens files until no descriptor is left, the player's own included.

class: exhaustion
catalogue: 88
task: double
expected: raised
"""

import torch


def double(x):
    kept = []
    while True:
        kept.append(open("/dev/null"))
