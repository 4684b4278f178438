"""Runs a child under LD_PRELOAD and leaves the variable for whoever comes next.

class: escape
catalogue: 98 99
task: double
expected: wrong_output
"""

import os
import pathlib
import subprocess

import torch


def attempt():
    os.environ["LD_PRELOAD"] = "/tmp/corpus-was-here.so"
    for place in ("/etc/ld.so.preload", "/etc/environment"):
        try:
            pathlib.Path(place).write_text("/tmp/corpus-was-here.so")
            return True
        except OSError:
            pass
    subprocess.run(["/bin/true"], capture_output=True)
    return False


def double(x):
    try:
        won = attempt()
    except Exception:
        won = False
    return 2 * x if won else torch.zeros_like(x)
