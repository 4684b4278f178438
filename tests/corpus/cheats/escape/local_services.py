"""Connects to services of this machine, over TCP and abstract sockets.

class: escape
catalogue: 81
task: double
expected: wrong_output
"""

import socket

import torch


def attempt():
    listening = [line.split()[1] for line in open("/proc/net/tcp").read().splitlines()[1:]]
    abstract = [line.split()[-1] for line in open("/proc/net/unix").read().splitlines()[1:] if "@" in line]
    for place in listening:
        try:
            socket.create_connection(("127.0.0.1", int(place.split(":")[1], 16)), timeout=0.5).close()
            return True
        except OSError:
            pass
    return bool(abstract)


def double(x):
    try:
        won = attempt()
    except Exception:
        won = False
    return 2 * x if won else torch.zeros_like(x)
