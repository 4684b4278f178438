"""One grading in a process forked from the watch, so that a newer save can end it at any moment."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from grader.domain import disk, submission, typed_data
from grader.domain.errors import BadInputError
from grader.domain.verdict import Verdict
from grader.domain.within import fork
from grader.referee.job import lesson_job
from grader.referee.pipeline import check
from grader.referee.process.forkserver import Forkserver

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.backends.detect import Choice
    from grader.domain.lessons import Lesson
    from grader.domain.options import GradingOptions
    from grader.referee.job import Job
    from grader.referee.process.pool_client import Pools

PR_SET_PDEATHSIG = 1
Forkservers: TypeAlias = dict[str, Forkserver]


class Event(msgspec.Struct, frozen=True):
    """A message of the grading: its stage, ``seconds`` since it began, what it says or knows."""

    stage: str
    seconds: float
    text: str = ""
    verdict: Verdict | None = None


class ForkedGrading:
    """A grading that runs; ``events`` returns its messages, each with the seconds since it began."""

    def __init__(
        self,
        lesson: Lesson,
        file: Path,
        choice: Choice,
        options: GradingOptions,
        forkservers: Forkservers,
        pools: Pools | None = None,
    ) -> None:
        self._forkservers = forkservers
        self.fd, write_end = os.pipe()
        self._pid = fork()  # the other threads here only wait for files; they hold no locks of ours
        if self._pid == 0:
            os.close(self.fd)
            job = partial(_job, lesson, file, choice, options, forkservers, pools)
            _grade(job, write_end)
        os.close(write_end)
        self._left = b""
        self.over = False

    def events(self) -> list[Event]:
        """What arrived since the last call; :attr:`over` is true after the last one."""
        found: list[Event] = []
        while not self.over and select.select([self.fd], [], [], 0)[0]:
            data = os.read(self.fd, 1 << 16)
            if not data:
                self._reap()
            *lines, self._left = (self._left + data).split(b"\n")
            found += [typed_data.convert(json.loads(line), Event) for line in lines]
        return found

    def cancel(self) -> None:
        """End it now, with its players and compilers; its temporary files are tidied up."""
        if self.over:
            return
        os.kill(self._pid, signal.SIGTERM)
        if not select.select([self.fd], [], [], 1.0)[0] or os.read(self.fd, 1 << 20):
            select.select([self.fd], [], [], 0.5)
        with contextlib.suppress(OSError):
            os.killpg(self._pid, signal.SIGKILL)
        for forkserver in self._forkservers.values():
            forkserver.kill_players()
        self._reap()

    def _reap(self) -> None:
        self.over = True
        os.close(self.fd)
        os.waitpid(self._pid, 0)


def _job(
    lesson: Lesson,
    file: Path,
    choice: Choice,
    options: GradingOptions,
    forkservers: Forkservers,
    pools: Pools | None,
) -> Job:
    """The grading of the file as it is now; BadInputError if it cannot be read."""
    job = lesson_job(lesson, submission.read(file), choice, options)
    return replace(job, forkservers=forkservers, pools=pools)


def _grade(make: Callable[[], Job], out: int) -> None:
    """In the fork: grade, and write one line of JSON for everything there is to say. Never returns."""
    begun = time.monotonic()

    def say(**event: object) -> None:
        event["seconds"] = round(time.monotonic() - begun, 3)
        os.write(out, json.dumps(event).encode() + b"\n")

    def tell(stage: str, verdict: Verdict | None) -> None:
        if stage != "search":  # what is known then was told as "judged"
            say(stage=stage, verdict=verdict.as_json() if verdict else None)

    def stop(*_: object) -> None:
        raise SystemExit(1)

    try:
        os.setpgid(0, 0)
        with contextlib.suppress(OSError, AttributeError):  # end with the watch, however that ends
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the watch's to handle
        outcome = check(replace(make(), say=lambda text: say(stage="say", text=text), tell=tell))
        say(stage="done", verdict=outcome.verdict.as_json())
    except BadInputError as error:
        with contextlib.suppress(OSError):
            say(stage="refused", text=str(error))
    except Exception as error:
        ours = f"The grader itself failed ({type(error).__name__}: {error}); this is a fault of ours."
        with contextlib.suppress(OSError):
            say(stage="refused", text=disk.trouble(error) or ours)
    finally:
        os._exit(0)
