"""Processes of a player, found in /proc: only the kernel is trusted about them."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")
MAX_AGE_S = 0.01  # half of a watcher's period
STRANGERS_S = 0.25


@dataclass(frozen=True, slots=True)
class Process:
    """Where /proc describes a process, its threads, and its resident memory in bytes, files included.

    ``processor_s``: seconds of a processor that it has had, and those that it started and that have ended.
    """

    path: str
    threads: int
    resident_bytes: int
    processor_s: float = 0.0


def namespace_members(first: int) -> list[Process]:
    """All processes of the PID namespace whose first process is ``first``: those in its own /proc."""
    found = [_read(path) for path in namespace_paths(first)]
    return [process for process, _ in filter(None, found)]


def namespace_paths(first: int) -> list[str]:
    """Where /proc describes them; a fraction of the work, which counts when there are thousands."""
    proc = f"/proc/{first}/root/proc"
    try:
        # Until bwrap has changed the root, this is the machine's own list.
        if os.stat(proc).st_dev == os.stat("/proc").st_dev:  # noqa: PTH116 - fifty times a second
            return []
        return [f"{proc}/{name}" for name in os.listdir(proc) if name.isdigit()]  # noqa: PTH208
    except OSError:
        return []


class _Sessions:
    """The processes of sessions that are asked for.

    Sessions have no list of their own, so each look goes through all of /proc. One look serves all who ask
    within ``MAX_AGE_S`` seconds: four players have eight watchers. Processes of sessions that nobody asked
    for are not read again for ``STRANGERS_S`` seconds: reading all of them, a hundred times a second, took a
    quarter of a core. No process of a player's gets by in that way: it inherits its session when it begins,
    and a number is not given again before thousands of other processes have had theirs.
    """

    def __init__(self) -> None:
        self._lock, self._looked = threading.Lock(), 0.0
        self._found: dict[int, list[Process]] = {}
        self._strangers, self._since = set[str](), 0.0
        self._asked: dict[int, float] = {}  # when each was asked for last, by its leader

    def members(self, leader: int, max_age_s: float) -> list[Process]:
        # A look that is fresh needs no lock, which two threads a player would wait for.
        if leader in self._asked and time.monotonic() - self._looked < max_age_s:
            self._asked[leader] = time.monotonic()
            return list(self._found.get(leader, ()))
        with self._lock:
            now, new = time.monotonic(), leader not in self._asked
            self._asked[leader] = now
            if new or now - self._looked >= max_age_s:
                self._look(now, anew=new or max_age_s <= 0 or now - self._since >= STRANGERS_S)
            return list(self._found.get(leader, ()))

    def _look(self, now: float, *, anew: bool) -> None:
        if anew:
            self._asked = {one: at for one, at in list(self._asked.items()) if now - at < STRANGERS_S}
            self._strangers, self._since = set(), now
        found = defaultdict(list)
        for name in _numbers():
            if name in self._strangers and int(name) not in self._asked:
                continue
            if seen := _read(f"/proc/{name}"):
                process, session = seen
                if session in self._asked:
                    found[session].append(process)
                else:
                    self._strangers.add(name)
        self._found = found
        self._looked = now  # last: from here on others take it without the lock


_sessions = _Sessions()


def session_members(leader: int, max_age_s: float = MAX_AGE_S) -> list[Process]:
    """All processes of a session, as they were at most ``max_age_s`` seconds ago.

    A process that has left the session is not found.
    """
    return _sessions.members(leader, max_age_s)


def numbered(first: int, number: int) -> int | None:
    """The process that has ``number`` in the namespace of ``first``, by its number outside."""
    with contextlib.suppress(OSError):
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        for name in children or _numbers():
            with contextlib.suppress(OSError):
                status = Path(f"/proc/{name}/status").read_text()
                inside = next((line.split() for line in status.splitlines() if line.startswith("NSpid:")), [])
                parent = next((line.split() for line in status.splitlines() if line.startswith("PPid:")), [])
                if inside[-1:] == [str(number)] and parent[-1:] == [str(first)]:
                    return int(name)
    return None


def kill_session(leader: int) -> None:
    """Kill a process group and, where /proc tells, all of its session."""
    for _ in range(20):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)
        rest = [p for p in session_members(leader, max_age_s=0.0) if p.path != f"/proc/{leader}"]
        for process in rest:
            with contextlib.suppress(OSError):
                os.kill(int(process.path.rsplit("/", 1)[1]), signal.SIGKILL)
        if not rest:
            return
        time.sleep(0.01)


def _numbers() -> list[str]:
    try:
        return [n for n in os.listdir("/proc") if n.isdigit()]  # noqa: PTH208
    except OSError:
        return []  # macOS has no /proc


def _read(path: str) -> tuple[Process, int] | None:
    try:
        with open(f"{path}/stat", "rb") as file:  # noqa: PTH123 - twenty times a second
            text = file.read()
    except OSError:
        return None
    # The name, in brackets, may hold anything: what counts begins after the last one.
    parts = text[text.rindex(b")") + 2 :].split()
    if parts[0] == b"Z":
        return None
    had_s = sum(map(int, parts[11:15])) / TICKS
    return Process(path, int(parts[17]), int(parts[21]) * PAGE, had_s), int(parts[3])
