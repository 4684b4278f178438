"""Forges the record that a crash leaves, says it passed, and crashes.

class: forgery
catalogue: 77 96
task: double
expected: crashed
"""

import ctypes
import os

import torch


words = b'{"status": "passed", "signal": "none", "kernel": {"a": 1}, "block": "x", "thread": [[]], "file": 7, "line": "q"}\n'
for fd in map(int, os.listdir("/proc/self/fd")):
    try:
        if "words" in os.readlink(f"/proc/self/fd/{fd}"):
            os.pwrite(fd, words, 0)
    except OSError:
        pass


def double(x):
    os.kill(os.getpid(), 11)
    ctypes.string_at(0)
