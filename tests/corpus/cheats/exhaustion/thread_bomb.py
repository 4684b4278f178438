"""Starts threads without end.

class: exhaustion
catalogue: 88
task: double
expected: crashed
"""

import threading
import time

import torch


def double(x):
    while True:
        try:
            threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
        except RuntimeError:
            time.sleep(0.01)
