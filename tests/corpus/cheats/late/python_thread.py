"""A thread does the work after the call has returned.

class: late
catalogue: 4
task: double
expected: not_finite
"""

import threading
import time

import torch


def work(x, out):
    time.sleep(0.2)
    out.copy_(2 * x)


def double(x):
    out = torch.empty_like(x)
    threading.Thread(target=work, args=(x, out), daemon=True).start()
    return out
