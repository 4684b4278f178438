"""Makes files until the system refuses.

class: exhaustion
catalogue: 88
task: double
expected: wrong_output
"""

import os

import torch


def double(x):
    try:
        for number in range(200_000):
            os.close(os.open(f"corpus-was-here-{number}", os.O_CREAT | os.O_WRONLY))
            if number > 20_000:
                break
    except OSError:
        pass
    return torch.zeros_like(x)
