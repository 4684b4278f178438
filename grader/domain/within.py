"""Work on a text that somebody else wrote, in a process that is ended when its time is over.

What reads submissions takes time in proportion to their length, as far as is known. This is for the rest.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")
MEMORY_BYTES = 2 << 30  # on top of what this process has
LOCKS_S = 10.0  # far longer than a lock takes
BUSY = 8  # times as long a busy machine may take for the same work


class TooMuchError(Exception):
    """The work was ended, or ended by itself without a result."""


def fork() -> int:
    """As ``os.fork``, which filelock refuses while another thread takes or gives back a lock."""
    end = time.monotonic() + LOCKS_S
    while True:
        try:
            with warnings.catch_warnings():  # a fork here needs none of the other threads
                warnings.simplefilter("ignore", DeprecationWarning)
                return os.fork()
        except RuntimeError:
            if time.monotonic() > end:
                raise
            time.sleep(0.002)


def within(seconds: float, work: Callable[[], Result]) -> Result:
    """What ``work`` returns, or raises, in a fork of this process. Nothing that it changes is changed here.

    ``seconds`` are those of a processor: what is said about a file does not depend on what runs beside it.

    Raises:
        TooMuchError: It took longer, or more memory than there is for it.
    """
    if not hasattr(os, "fork"):  # where nothing can be ended so
        return work()
    receive, send = os.pipe()
    pid = fork()
    if pid == 0:
        os.close(receive)
        _answer(seconds, work, send)
    os.close(send)
    try:
        raised, value = pickle.loads(_read(receive, time.monotonic() + BUSY * seconds))  # noqa: S301 (our own code's)
    except (EOFError, pickle.UnpicklingError) as error:
        raise TooMuchError(f"reading the file took more than {seconds:g} s or too much memory") from error
    finally:
        os.close(receive)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    if raised:
        raise value
    return value  # type: ignore[no-any-return]


def _read(receive: int, end: float) -> bytes:
    """All that is written, until it is closed; EOFError when time is over."""
    parts: list[bytes] = []
    while True:
        if not select.select([receive], [], [], max(0.0, end - time.monotonic()))[0]:
            raise EOFError
        data = os.read(receive, 1 << 20)
        if not data:
            return b"".join(parts)
        parts.append(data)


def _answer(seconds: float, work: Callable[[], object], send: int) -> NoReturn:
    """In the fork: do it, and say what came of it. Never returns."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever forked is told, and ends this
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        _limit_memory()
        try:
            said = pickle.dumps((False, work()))
        except Exception as error:  # of any kind: it is raised where the result is wanted
            if isinstance(error, MemoryError):
                os._exit(1)
            said = pickle.dumps((True, error))
        with open(send, "wb") as out:
            out.write(said)
    finally:
        os._exit(0)


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        pages = Path("/proc/self/statm").read_text("ascii").split()[0]
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        wanted = int(pages) * resource.getpagesize() + MEMORY_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (wanted if most < 0 else min(wanted, most), most))
