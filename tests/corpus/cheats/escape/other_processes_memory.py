"""process_vm_readv and pidfd_getfd on the parent and on process 1.

class: escape
catalogue: 97
task: double
expected: wrong_output
"""

import ctypes
import os

import torch


def attempt():
    libc = ctypes.CDLL(None, use_errno=True)
    for pid in (os.getppid(), 1):
        fd = libc.syscall(434, pid, 0)
        if fd >= 0 and libc.syscall(438, fd, 3, 0) >= 0:
            return True
        buffer = ctypes.create_string_buffer(8)
        local = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 8)
        remote = (ctypes.c_size_t * 2)(0x400000, 8)
        if pid != os.getpid() and libc.process_vm_readv(pid, local, 1, remote, 1, 0) > 0:
            return True
    return False


def double(x):
    try:
        won = attempt()
    except Exception:
        won = False
    return 2 * x if won else torch.zeros_like(x)
