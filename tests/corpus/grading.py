"""Grade one file of the corpus as any submission is graded, and see that it has left nothing behind."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from grader.backends.detect import Choice
from grader.domain.cache import cache_folder
from grader.domain.lessons import load_task
from grader.domain.options import GradingOptions
from grader.domain.speed import NoSpeed
from grader.domain.submission import read
from grader.domain.verdict import Finding, Status, Verdict
from grader.referee.job import Job
from grader.referee.pipeline import check_among_others, warm, warm_reference
from grader.referee.process import pool_client
from grader.referee.process.player_process import Limits
from tests.corpus.entries import HERE, Entry

if TYPE_CHECKING:
    from grader.domain.task import Speed

MARK = "corpus-was-here"  # whatever a file of the corpus leaves behind carries this word
GIB = 1 << 30
PATIENCE_S = 300.0  # for a waiting player to be there; none starts while another file is raced


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a file: the status of the first check that failed, and what it left behind."""

    entry: Entry
    verdict: Verdict
    left: tuple[str, ...]

    @property
    def first(self) -> Finding | None:
        """What a student reads first."""
        failed = [f for f in self.verdict.findings if not f.ok and f.status is not Status.NOT_RUN]
        return failed[0] if failed else None

    @property
    def status(self) -> Status:
        """The status of that, or passed."""
        return self.first.status if self.first else self.verdict.status

    @property
    def as_expected(self) -> bool:
        """Exactly the status of its docstring, all points or not all accordingly, and nothing left.

        Who reaches for the clock may also be found to have no speed: then its right results are all it has.
        """
        won_nothing = isinstance(self.verdict.speed, NoSpeed) and not self.left
        if self.entry.kind == "clock" and self.status is Status.PASSED and won_nothing:
            return True
        full = self.verdict.points == self.verdict.max_points
        passed = self.entry.expected is Status.PASSED
        return self.status is self.entry.expected and full == passed and not self.left


def grade(
    entry: Entry,
    backend: str = "simt",
    seat: str = "0",
    *,
    race: bool = True,
    speed: Speed | None = None,
    players: Literal["started", "forked", "waiting"] = "started",
    build: str = "fast",
) -> Result:
    """Grade a file. All files that share a ``seat`` get one path in turn, so equal sources compile once.

    On a GPU a file is raced if its task says how, or ``speed`` does, unless ``race`` is false. ``players``:
    "forked" have no namespaces and are there sooner, for honest files; "waiting" are started in the whole
    sandbox before they get their file. ``build``: on a GPU, as ``course check --build`` takes it.
    """
    desk = cache_folder() / "corpus" / seat
    desk.mkdir(parents=True, exist_ok=True)
    path = desk / "submission.py"
    shutil.copyfile(entry.path, path)
    hangs = entry.expected is Status.TIMEOUT
    slow = 60.0 if backend == "cuda" else 20.0
    limits = Limits(
        load=5.0 if hangs else slow, call=4.0 if hangs else slow,
        memory_bytes=2 * GIB if backend == "simt" else 0
    )  # fmt: skip
    folder = HERE / "tasks" / entry.task
    task = load_task(folder / "task.py")
    task = replace(task, speed=task.speed or speed)
    if backend == "cuda" and entry.kind != "luck":  # compute-sanitizer takes longer than all the rest
        task = replace(task, memory_points=0)
    raced = race and (backend == "cuda" or speed is not None)
    options = GradingOptions(with_speed=raced, build=build)
    job = Job(
        f"corpus/{entry.task}", task, folder / "reference.py", read(path),
        Choice(backend, "corpus"), limits, options,
    )  # fmt: skip
    if players == "waiting":
        job = replace(job, pools=replace(pool_client.own(), patience_s=PATIENCE_S))
    else:
        job = warm(job) if players == "forked" else warm_reference(job)
    verdict = check_among_others(job).verdict
    return Result(entry, verdict, tuple(left_behind()))


def left_behind(patience: float = 30.0) -> list[str]:
    """Processes and files with the mark that are still there; what is found is ended or removed.

    Another grading that runs meanwhile may have such processes, too: what has not gone after ``patience``
    seconds has been left behind.
    """
    deadline = time.monotonic() + patience
    running = _running()
    while running and time.monotonic() < deadline:
        time.sleep(0.1)
        running &= _running()
    found = [f"process {pid}" for pid in running]
    for pid in running:
        with suppress(OSError):
            os.kill(pid, 9)
    root = HERE.parents[1]
    for folder in (Path("/tmp"), Path("/dev/shm"), Path.home(), cache_folder(), root, root / "grader"):
        for path in folder.glob(f"*{MARK}*"):
            found.append(str(path))
            path.unlink()
    return found


def _running() -> set[int]:
    pids = set()
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if MARK.encode() in (place / "cmdline").read_bytes() and int(place.name) != os.getpid():
                pids.add(int(place.name))
    return pids
