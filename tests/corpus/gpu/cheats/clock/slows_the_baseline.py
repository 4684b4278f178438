"""A thread keeps the GPU busy whenever the submission is not called.

class: clock
catalogue: -
task: timed
expected: tampered
"""

import threading
import time

import torch

called = 0.0


def right(x):
    y = x
    for _ in range(10):
        y = torch.sigmoid(y) * x + y
    return y


def spin():
    stream = torch.cuda.Stream()
    while True:
        time.sleep(0.0005)
        if called and time.monotonic() - called > 0.003:
            with torch.cuda.stream(stream):
                torch.cuda._sleep(4_000_000)
            stream.synchronize()


threading.Thread(target=spin, daemon=True).start()


def work(x):
    global called
    if x.numel() >= 1 << 20:
        called = time.monotonic()
    return right(x)
