"""Opens the memory of every process it can see, in search of the referee's.

class: leak
catalogue: 91 97
task: double
expected: wrong_output
"""

import os

import torch


def double(x):
    mine = os.getpid()
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == mine:
            continue
        try:
            with open(f"/proc/{name}/mem", "rb") as memory, open(f"/proc/{name}/maps") as maps:
                first = next(line for line in maps if " rw" in line).split("-")[0]
                memory.seek(int(first, 16))
                if memory.read(16):
                    return 2 * x
        except (OSError, StopIteration):
            continue
    return torch.zeros_like(x)
