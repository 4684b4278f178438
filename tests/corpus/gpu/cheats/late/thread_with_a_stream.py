"""A Python thread with a stream of its own does the work later.

class: late
catalogue: 4
task: double
expected: wrong_output
"""

import threading
import time

import torch


def work(x, out):
    with torch.cuda.stream(torch.cuda.Stream()):
        time.sleep(0.2)
        out.copy_(2 * x)


def double(x):
    out = torch.zeros_like(x)
    threading.Thread(target=work, args=(x, out), daemon=True).start()
    return out
