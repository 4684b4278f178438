"""Several gradings at the same time, each in a thread of its own: most of one is waiting for processes."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from grader.referee.pipeline import check as grade

if TYPE_CHECKING:
    from grader.domain.speed import Speed
    from grader.domain.verdict import Verdict
    from grader.referee.job import Job
    from grader.referee.session import Session

SMALL_GPU_BYTES = 40 * 10**9
# Two contexts, and beside the tensors float64 answers and the reference's weights once more.
GRADING_BYTES = 16 * 10**9
Hear = Callable[["Place"], None]


def at_once(backend: str, cores: int, gpu_bytes: int, memory_bytes: int, limit_bytes: int) -> int:
    """How many candidates may be graded at the same time.

    ``gpu_bytes`` is the GPU's memory, 0 if it cannot be asked; ``memory_bytes`` this machine's, and
    ``limit_bytes`` what one player may use of it.

    A grading needs two cores: nvcc and the compiler behind it, or the two processes that play it. On a GPU
    those that are ready keep their tensors there until the race, whatever this number is; it bounds what
    is needed on the way, and on a card that is not large there is no room for a second one's. What a file
    tunes by timing itself it then tunes beside others' calls. They take a few milliseconds of a second, and
    tuners go by the shortest or the median time. Without a GPU the limits of all players together may not
    be more than half of the memory, as for one; so a small machine grades one at a time.
    """
    most = cores // 2
    if backend == "simt":
        most = min(most, memory_bytes // 2 // max(1, limit_bytes))
    elif gpu_bytes < SMALL_GPU_BYTES:
        most = 1
    else:
        most = min(most, gpu_bytes // GRADING_BYTES)
    return max(1, most)


@dataclass(slots=True)
class Place:
    """One candidate on its way. It has arrived once it waits to be timed, or has its verdict or an error.

    Attributes:
        number: In the order given.
        job: Its grading.
        judged: The verdict before any speed.
        verdict: The whole one.
        error: What its grading has raised.
        waited: Seconds until its grading began.
        timing: What whoever times it keeps here.
        gone: Set when nobody need wait any longer.
        reins: Ends its grading early.
    """

    number: int
    job: Job
    judged: Verdict | None = None
    verdict: Verdict | None = None
    error: BaseException | None = None
    waited: float = 0.0
    timing: object = None
    gone: threading.Event = field(default_factory=threading.Event)
    reins: Callable[[], None] | None = None

    def hold(self, reins: Callable[[], None]) -> None:
        """What ends its grading early."""
        self.reins = reins

    def hear(self, stage: str, verdict: Verdict | None) -> None:
        """A stage is over."""
        if stage == "judged":
            self.judged = verdict
        self.job.tell(stage, verdict)


class Several:
    """Gradings of ``jobs``, ``most`` of them at a time; for use in a ``with``, which ends all of them.

    ``timer(place, session)`` takes the place of the jobs' own: it is to call :meth:`arrived` and may wait for
    ``place.gone``, which comes with the end of the ``with``. Waiting there, a candidate counts no longer.
    """

    def __init__(
        self, jobs: Sequence[Job], most: int, timer: Callable[[Place, Session], Speed | None] | None = None
    ) -> None:
        self.places = [Place(n, job) for n, job in enumerate(jobs)]
        self._timer, self._begun = timer, time.monotonic()
        self._hands, self._over = threading.Semaphore(most), threading.Event()
        self._arrivals: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._there: set[int] = set()
        self._threads = [threading.Thread(target=self._grade, args=(p,), daemon=True) for p in self.places]

    def __enter__(self) -> Several:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Wait for the verdicts; after an error or Ctrl-C all processes are killed first."""
        self._over.set()
        for place in self.places:
            place.gone.set()
        try:
            for thread in self._threads if kind is None else ():
                thread.join()
        finally:
            for thread in self._threads:
                while thread.is_alive():
                    self._kill()
                    thread.join(0.2)

    def wait(self, hear: Hear) -> None:
        """Until all have arrived; ``hear`` is told of each. Raises the first error in the order given."""
        for _ in self.places:
            hear(self.places[self._arrivals.get()])
        for place in self.places:
            if place.error is not None:
                raise place.error

    def arrived(self, place: Place) -> None:
        """Graded, as far as that goes without a clock."""
        if place.number not in self._there:
            self._there.add(place.number)
            self._hands.release()
            self._arrivals.put(place.number)

    def _kill(self) -> None:
        for place in self.places:
            if place.reins:
                place.reins()

    def _grade(self, place: Place) -> None:
        self._hands.acquire()
        place.waited = time.monotonic() - self._begun
        job = replace(place.job, tell=place.hear, reins=place.hold)
        if timer := self._timer:  # which reads no clock: it waits for the others
            pools = replace(job.pools, clock=False) if job.pools else None
            job = replace(job, timer=lambda session: timer(place, session), races=False, pools=pools)
        try:
            if not self._over.is_set():
                place.verdict = grade(job).verdict
        except BaseException as error:
            place.error = error
        finally:
            self.arrived(place)
