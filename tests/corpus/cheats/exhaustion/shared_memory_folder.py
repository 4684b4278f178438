"""Fills /dev/shm and /tmp until nothing more fits.

class: exhaustion
catalogue: 88
task: double
expected: wrong_output
"""

import torch


def double(x):
    for folder in ("/dev/shm", "/tmp", "."):
        try:
            with open(f"{folder}/corpus-was-here", "wb") as file:
                for _ in range(40):
                    file.write(bytes(1 << 20) * 8)
        except OSError:
            pass
    return torch.zeros_like(x)
