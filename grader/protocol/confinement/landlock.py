"""Landlock: the files that a player may use, told to the kernel by the player itself before it starts work.

Under bubblewrap this is a second wall of the same room. Without it, it is the wall.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

CREATE, ADD, RESTRICT = 444, 445, 446  # the same numbers on x86-64 and aarch64
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
ALL_BY_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1}
ALL = (1 << 15) - 1
FOR_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
READING = EXECUTE | READ_FILE | READ_DIR
TCP = 0b11  # bind and connect
SIGNALS_AND_SOCKETS = 0b11  # abstract UNIX sockets, and signals to processes outside


def version() -> int:
    """The kernel's version of Landlock; 0 where it has none."""
    if not sys.platform.startswith("linux"):
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, int(libc.syscall(CREATE, None, ctypes.c_size_t(0), 1)))


def trouble() -> str:
    """Why there is none here, in a clause; "" when there is."""
    return "" if version() else "this kernel has no Landlock"


def apply(read: Sequence[str], write: Sequence[str], listed: Sequence[str] = ()) -> None:
    """From now on this process reads below ``read`` and ``write`` only, and writes below ``write`` only.

    Below ``listed`` it sees the names of files, whether it may read them or not.
    """
    have = version()
    if not have:
        raise OSError(errno.ENOSYS, "landlock")
    libc = ctypes.CDLL(None, use_errno=True)
    handled = ALL_BY_VERSION.get(have, ALL)
    rules = struct.pack("QQQ", handled, TCP if have >= 4 else 0, SIGNALS_AND_SOCKETS if have >= 6 else 0)
    rules = rules[: 8 if have < 4 else 16 if have < 6 else 24]
    ruleset = libc.syscall(CREATE, rules, ctypes.c_size_t(len(rules)), 0)
    if ruleset < 0:
        raise OSError(ctypes.get_errno(), "landlock")
    try:
        for paths, rights in ((read, READING), (listed, READ_DIR), (write, handled)):
            for path in paths:
                _allow(libc, ruleset, path, rights & handled)
        if libc.prctl(38, 1, 0, 0, 0) or libc.syscall(RESTRICT, ruleset, 0):
            raise OSError(ctypes.get_errno(), "landlock")
    finally:
        os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no permission
    try:
        if not Path(path).is_dir():
            rights &= FOR_FILES
        beneath = struct.pack("=Qi", rights, fd)
        if libc.syscall(ADD, ruleset, 1, beneath, 0):
            raise OSError(ctypes.get_errno(), "landlock")
    finally:
        os.close(fd)
