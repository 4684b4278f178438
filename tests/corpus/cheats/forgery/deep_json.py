"""Answers with JSON that is nested a hundred thousand deep.

class: forgery
catalogue: 83
task: double
expected: tampered
"""

import os
import struct

import torch

def sockets():
    for fd in map(int, os.listdir("/proc/self/fd")):
        try:
            if os.readlink(f"/proc/self/fd/{fd}").startswith("socket:"):
                yield fd
        except OSError:
            pass


def double(x):
    body = b"[" * 100_000 + b"]" * 100_000
    for fd in sockets():
        os.write(fd, struct.pack(">I", len(body)) + body)
    return torch.zeros_like(x)
