"""The watcher: fifty times a second it adds up what a player's processes use, and ends them above the limit.

Limits of the kernel do not fit: the CPU back end reserves far more address space than it uses, and a limit on
processes does not hold for root.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.referee.sandbox.sandboxed import SandboxedProcess

PERIOD_S = 0.02
MAX_PROCESSES = 64
MAX_PROCESSES_COMPILING = 512  # nvcc starts several programs for each processor
MAX_THREADS = 4096
GIB = 1 << 30


def memory_bytes() -> int:
    """Bytes of memory that this machine or container has."""
    have = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):
            have = min(have, int(Path(name).read_text()))
    return have


def memory_limit() -> int:
    """Bytes that a player may use: half of what this machine or container has, 16 GiB at most."""
    return min(16 * GIB, memory_bytes() // 2)


class Watcher:
    """Watches one sandboxed process. ``reason`` is "memory" or "processes" once it has killed it."""

    def __init__(
        self, process: SandboxedProcess, shared: Callable[[], int], limit_bytes: int, max_processes: int
    ) -> None:
        self.reason = ""
        self.limit_bytes = limit_bytes
        self._max_processes = max_processes
        self._process = process
        self._shared = shared
        self._over = threading.Event()
        # Counting must not wait: the look at memory takes seconds when a hundred processes fork at once.
        looks = (self._crowded, self._greedy)
        self._threads = [threading.Thread(target=self._watch, args=(k,), daemon=True) for k in looks]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Watch no longer."""
        self._over.set()
        for thread in self._threads:
            thread.join(5.0)

    def _watch(self, look: Callable[[], str]) -> None:
        while not self._over.wait(PERIOD_S) and not self.reason:
            reason = ""
            with contextlib.suppress(Exception):  # whatever is odd about one look, there is a next one
                reason = look()
            if reason:
                self.reason = self.reason or reason
                self._process.kill()
                return

    def _crowded(self) -> str:
        return "processes" if self._process.count() > self._max_processes else ""

    def _greedy(self) -> str:
        running = self._process.processes()
        if sum(p.threads for p in running) > MAX_THREADS:
            return "processes"
        # The quick sum counts libraries and shared pages more than once; a closer look costs more.
        if sum(p.resident_bytes for p in running) + self._shared() > self.limit_bytes:
            own = 0
            for process in running:
                own += _own(process.path, process.resident_bytes)
                if own + self._shared() > self.limit_bytes:
                    return "memory"
                if self._over.is_set() or self.reason:
                    return ""
        return ""


def _own(path: str, resident_bytes: int) -> int:
    """A process's share of memory that is not a file's, in bytes."""
    try:
        text = Path(f"{path}/smaps_rollup").read_text()
    except OSError:
        return 0 if not Path(path).exists() else resident_bytes
    parts = re.findall(r"^Pss_(?:Anon|Shmem):\s+(\d+)", text, re.M)
    parts = parts or re.findall(r"^Pss:\s+(\d+)", text, re.M)
    return sum(int(kib) << 10 for kib in parts)
