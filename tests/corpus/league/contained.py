"""Work on files that may kill, hang or fill what runs them: each in a forked process that is shut in.

A process is forked from this one, which has imported torch and never touched a GPU, so that each file has its
own and none waits for the import. It gets namespaces of its own for processes, mounts, network and shared
memory; it can write to one folder only, and it is ended when its time is over, or when it and what it started
hold too much memory or are too many. That protects the machine and the other files; it is no part of a judge.
Only root can do so.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LIBC = ctypes.CDLL(None, use_errno=True)
NEW_MOUNTS, NEW_IPC, NEW_PIDS, NEW_NETWORK = 0x20000, 0x8000000, 0x20000000, 0x40000000
READ_ONLY, REMOUNT, BIND, RECURSIVE, PRIVATE = 1, 32, 4096, 16384, 1 << 18
END_WITH_PARENT = 1  # PR_SET_PDEATHSIG
GIB = 1 << 30
PAGE = os.sysconf("SC_PAGE_SIZE")
NOT_FILES = {"proc", "sysfs", "cgroup", "cgroup2", "devtmpfs", "devpts", "mqueue", "hugetlbfs"}
TICK_S = 0.1
MOST_DESCRIPTORS = 1 << 14  # of this process: none is a file's business
MOST_READS = 32  # at a time, of a file that writes without end


@dataclass(frozen=True, slots=True)
class Job:
    """Work whose result is a word. ``after``: the key of a job that must have ended before.

    ``slots`` of the processors it takes; ``shut_in`` false for work that shuts in itself what it runs.
    """

    key: tuple[str, str]
    work: Callable[[], str]
    folder: Path
    limit_s: float
    slots: int = 1
    after: tuple[str, str] | None = None
    shut_in: bool = True


@dataclass(frozen=True, slots=True)
class Room:
    """What all jobs may use together (``slots``), and one of them alone.

    ``seen``: folders that must not be hidden. ``loud``: what is printed is shown. ``open``: nothing is shut
    in, for a machine that does not let us and is thrown away afterwards.
    """

    slots: int
    memory_bytes: int = 12 * GIB
    processes: int = 300
    seen: tuple[Path, ...] = ()
    loud: bool = False
    open: bool = False


@dataclass(slots=True)
class Running:
    """A job's process. ``mark`` stands before its word: a file may write into any descriptor it finds."""

    job: Job
    pid: int
    pipe: int
    mark: bytes
    begun: float = field(default_factory=time.monotonic)
    ended_by: str = ""
    said: bytes = b""

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begun

    @property
    def word(self) -> str:
        _, marked, word = self.said.rpartition(self.mark)
        return word.decode(errors="replace") if marked else self.ended_by or "ended"


def play(jobs: list[Job], room: Room, ends: float) -> Iterator[tuple[Job, str, float]]:
    """Each job with its word and its seconds, as they end. After ``ends`` (monotonic) none is begun.

    The word is the job's own, or what ended it: "time", "memory", "processes", or "ended" for a process that
    ended without one.
    """
    waiting, running, over = list(jobs), list[Running](), set[tuple[str, str]]()
    known = {job.key for job in jobs}
    while running or (waiting and time.monotonic() < ends):
        free = room.slots - sum(one.job.slots for one in running)
        for job in list(waiting) if time.monotonic() < ends else []:
            if job.slots <= free and (job.after is None or job.after in over or job.after not in known):
                waiting.remove(job)
                running.append(_start(job, room))
                free -= job.slots
        time.sleep(TICK_S)
        families = _families([one.pid for one in running])
        for one in list(running):
            family, most = families[one.pid]
            late = one.seconds > one.job.limit_s
            many = len(family) > room.processes  # asked first: they may multiply while the other is found out
            much = not many and most > room.memory_bytes and _held(family) > room.memory_bytes
            why = "time" if late else "processes" if many else "memory" if much else ""
            if why and not one.ended_by:
                one.ended_by = why
                os.kill(one.pid, signal.SIGKILL)
            if _ended(one):
                running.remove(one)
                over.add(one.job.key)
                os.close(one.pipe)
                yield one.job, one.word, one.seconds


def _ended(one: Running) -> bool:
    """Whether its process is no more; what it has said so far is kept."""
    gone = os.waitpid(one.pid, os.WNOHANG)[0] != 0
    for _ in range(MOST_READS):
        if not select.select([one.pipe], [], [], 0)[0] or not (more := os.read(one.pipe, 1 << 16)):
            break
        one.said = (one.said + more)[-1 << 16 :]
    return gone


def _families(roots: list[int]) -> dict[int, tuple[list[int], int]]:
    """Each process with its descendants, and the bytes that they hold: too many where they share some."""
    children, sizes = defaultdict[int, list[int]](list), dict[int, int]()
    for place in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            words = place.read_text(errors="replace").rpartition(")")[2].split()
            pid = int(place.parent.name)
            children[int(words[1])].append(pid)
            _, resident, of_files, *_ = map(int, (place.parent / "statm").read_text().split())
            sizes[pid] = (resident - of_files) * PAGE  # many processes map the same libraries
    found = {}
    for root in roots:
        family = [root]
        for pid in family:
            family += children[pid]
        found[root] = family, sum(sizes.get(pid, 0) for pid in family)
    return found


def _held(family: list[int]) -> int:
    """The bytes that these hold; what several of them share since a fork counts once. Slow to read."""
    found = 0
    for pid in family:
        with contextlib.suppress(OSError):
            rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            found += 1024 * sum(int(row.split()[1]) for row in rows if row.startswith("Pss_Anon:"))
    return found


def _start(job: Job, room: Room) -> Running:
    reading, writing = os.pipe()
    mark = os.urandom(16)
    sys.stdout.flush()
    if pid := os.fork():
        os.close(writing)
        os.set_blocking(reading, False)
        return Running(job, pid, reading, mark)
    try:
        os.setsid()
        os.closerange(3, writing)
        os.closerange(writing + 1, MOST_DESCRIPTORS)
        _end_with_parent()
        if not room.loud:
            _silent()
        if job.shut_in and not room.open:
            _shut_in(job.folder, room.seen)
        if job.shut_in:
            _settle(job.folder)
        os.write(writing, mark + job.work().encode())
    except BaseException as error:  # whatever a file raises that its judge lets through
        if not job.shut_in or isinstance(error, NoAnswerError):
            os.write(writing, mark + f"no answer: {error!r}"[:300].encode())
        if room.loud:
            sys.excepthook(type(error), error, error.__traceback__)
    finally:
        os._exit(0)


class NoAnswerError(Exception):
    """A judge could not be asked: nothing is known about the file."""


def _shut_in(folder: Path, seen: tuple[Path, ...]) -> None:
    """Leave this process waiting, and return in one that is second in namespaces of its own.

    Not the first: the kernel lets nobody in them kill that one, itself included.
    """
    _require(LIBC.unshare(NEW_MOUNTS | NEW_IPC | NEW_PIDS | NEW_NETWORK), "unshare")
    if first := os.fork():
        os.waitpid(first, 0)
        os._exit(0)
    _end_with_parent()
    _require(_mount("none", "/", "", RECURSIVE | PRIVATE), "mount")
    _require(_mount(str(folder), str(folder), "", BIND), "mount")
    for line in Path("/proc/self/mounts").read_text().splitlines():
        place, kind = line.split()[1:3]
        if kind not in NOT_FILES and place != str(folder):
            failed = _mount("none", place, "", REMOUNT | BIND | READ_ONLY)
            _require(failed if place == "/" else 0, "mount")
    _require(_mount("tmpfs", "/dev/shm", "tmpfs", 0), "mount")
    _require(_mount("proc", "/proc", "proc", 0), "mount")
    if not any(place.is_relative_to("/tmp") for place in (folder, *seen)):
        _mount("tmpfs", "/tmp", "tmpfs", 0)
    if second := os.fork():
        while os.wait()[0] != second:
            pass
        os._exit(0)


def _settle(folder: Path) -> None:
    """Have everything that is written by default written below the folder."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    os.chdir(home)
    tempfile.tempdir = None
    os.environ |= {
        "HOME": str(home), "TMPDIR": str(home), "TORCH_EXTENSIONS_DIR": str(folder / "build"),
        "TRITON_CACHE_DIR": str(home / "triton"), "MAX_JOBS": "2",
    }  # fmt: skip


def _end_with_parent() -> None:
    LIBC.prctl(END_WITH_PARENT, signal.SIGKILL)


def _mount(source: str, place: str, kind: str, flags: int) -> int:
    data = b"size=2g" if kind == "tmpfs" else None
    return int(LIBC.mount(source.encode(), place.encode(), kind.encode() or None, flags, data))


def _require(failed: int, what: str) -> None:
    if failed:
        raise NoAnswerError(f"{what}: {os.strerror(ctypes.get_errno())}; only root can shut files in")


def _silent() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
