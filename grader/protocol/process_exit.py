"""The end of a process, without what the interpreter does after all that a program asked for."""

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
    fifteen programs that end with a backward pass died so. And it takes up to half a second.
    """
    # As the interpreter begins its end: pools let their threads go, and threads are waited for.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):  # none, gone, closed
            code = code or 120  # what Python itself says then
    os._exit(code & 0xFF)
