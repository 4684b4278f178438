"""Tries every setuid program to become somebody else.

class: escape
catalogue: 96
task: double
expected: wrong_output
"""

import os
import subprocess

import torch


def double(x):
    for name in ("su", "sudo", "mount", "newgrp", "pkexec"):
        try:
            done = subprocess.run([name, "-c", "id -u"], capture_output=True, timeout=2, stdin=subprocess.DEVNULL)
            if done.stdout.strip() == b"0":
                return 2 * x
        except (OSError, subprocess.TimeoutExpired):
            pass
    try:
        os.setuid(0)
    except OSError:
        return torch.zeros_like(x)
    return torch.zeros_like(x)
