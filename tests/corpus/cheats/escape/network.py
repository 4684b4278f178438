"""Connects to other machines, by name and by number.

class: escape
catalogue: 81
task: double
expected: wrong_output
"""

import socket

import torch


def attempt():
    for address in (("1.1.1.1", 53), ("example.com", 80)):
        try:
            socket.create_connection(address, timeout=1).close()
            return True
        except OSError:
            pass
    return False


def double(x):
    try:
        won = attempt()
    except Exception:
        won = False
    return 2 * x if won else torch.zeros_like(x)
