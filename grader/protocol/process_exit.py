"""The end of a process that torch has run in."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from typing import NoReturn


def leave(code: int) -> NoReturn:
    """End this process as ``sys.exit(code)`` would, but without taking the interpreter down first.

    Threads are waited for, exit handlers run, what was printed is flushed. Not done is the interpreter's
    own finalization: the thread in which torch (2.13) runs a backward pass may still hold a Python object
    of that pass, and a thread that wants to let go of one by then is ended in the middle of C++ code, which
    aborts the process (SIGABRT, "terminate called without an active exception"). On a busy machine one in
    fifteen programs that end with a backward pass died so.
    """
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):  # none, gone, closed
            code = code or 120  # what Python itself says then
    os._exit(code & 0xFF)
