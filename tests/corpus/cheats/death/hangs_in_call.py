"""An endless loop in the call, deaf to signals.

class: death
catalogue: 88
task: double
expected: timeout
"""

import signal

import torch


signal.signal(signal.SIGALRM, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)


def double(x):
    while True:
        pass
