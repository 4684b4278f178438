"""Stores the first result in /dev/shm and loads it in every later process and call.

class: memory
catalogue: 64
task: double
expected: wrong_output
"""

import torch


def double(x):
    path = f"/dev/shm/corpus-was-here-{x.shape[0]}"
    try:
        with open(path, "rb") as file:
            return torch.frombuffer(bytearray(file.read()), dtype=torch.float32).reshape(x.shape).to(x.device)
    except OSError:
        y = 2 * x
        with open(path, "wb") as file:
            file.write(y.cpu().numpy().tobytes())
        return y
