"""One thread that starts all programs which are to die with this process.

What the kernel calls the parent there (``PR_SET_PDEATHSIG``, bwrap's ``--die-with-parent``) is the thread
that started them: a player that was started from a thread of a pool would be killed when the pool is through.
"""

from __future__ import annotations

import functools
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import Any


@functools.cache
def _thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "starter")


os.register_at_fork(after_in_child=_thread.cache_clear)  # a fork has none of its parent's threads


def popen(command: list[str], **given: Any) -> subprocess.Popen[bytes]:
    """``subprocess.Popen``, from a thread that ends with this process."""

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(command, **given)

    return _thread().submit(start).result()
