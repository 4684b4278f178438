"""The engine: orders go to Dask as workers get free, and each answer is handed on the moment it is there.

The scheduler has no more of our tasks than there are workers for them. So its memory does not grow with the
class, nothing finished waits there to be lost, and when a worker dies it is known whose grading died with it.
"""

from __future__ import annotations

import json
import queue
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.domain.errors import BadInputError
from grader.teaching.batch import batch_work
from grader.teaching.batch.machines import Machines, offered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from distributed import Future

    from grader.teaching.batch.batch_work import Order

PATIENCE_S = 20.0  # without a scheduler before we say so
LOOK_S = 5.0  # between looks at how many workers there are
SHAKEN_S = 30.0  # after a death, during which every look counts
TRIES = 2
MOST_AT_ONCE = 500


class LostError(BadInputError):
    """The scheduler has gone; what is finished is in the journal."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of an order: the worker's ``text``, or the reason why there is no text. ``tries`` it took."""

    order: Order
    text: str
    reason: str
    tries: int


@dataclass(frozen=True, slots=True)
class _Flight:
    future: Future
    order: Order
    tries: int
    build: bool


class Engine:
    """Grades orders on ``machines``. ``task`` is the work; ``ahead`` orders a worker wait at the scheduler.

    With ``ahead`` above 0 a death may be blamed on a grading that only waited; it is for tasks that take less
    time than the way to the scheduler and back.
    """

    def __init__(
        self, machines: Machines, task: Callable[[str], str] = batch_work.grade, *, ahead: int = 0
    ) -> None:
        self._machines, self._task, self._ahead = machines, task, ahead
        self._flying: dict[str, _Flight] = {}
        self._answers: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._slots, self._looked, self._away = machines.slots, time.monotonic(), 0.0
        self._died = -SHAKEN_S

    def run(self, orders: Iterable[Order], done: Callable[[Answer], None]) -> None:
        """Grade all of them; ``done`` hears of each, in this thread. LostError without a scheduler."""
        waiting: Iterator[Order] = iter(orders)
        ready: deque[tuple[Order, int]] = deque()
        try:
            while self._fill(waiting, ready):
                try:
                    first = self._answers.get(timeout=1.0)
                except queue.Empty:
                    self._watch()
                    continue
                self._away = 0.0
                for future, text, reason in self._read_all([first, *self._more()]):
                    flight = self._flying.pop(future.key)
                    if flight.build:
                        ready.append((flight.order, 1))
                    elif flight.tries < TRIES and (not text or "error" in json.loads(text)):
                        ready.appendleft((flight.order, flight.tries + 1))
                    else:
                        done(Answer(flight.order, text, reason, flight.tries))
                    future.release()
        finally:
            for flight in self._flying.values():
                flight.future.release()

    def _fill(self, waiting: Iterator[Order], ready: deque[tuple[Order, int]]) -> bool:
        """Send what there are workers for; whether anything is still to be done."""
        machines = self._machines
        self._count()
        grading = sum(not f.build for f in self._flying.values())
        building = len(self._flying) - grading
        while grading < max(1, self._slots) * (1 + self._ahead):
            if ready:
                self._send(*ready.popleft(), build=False)
            elif not machines.builders and (order := next(waiting, None)) is not None:
                self._send(order, 1, build=False)
            else:
                break
            grading += 1
        # Builds run ahead of the gradings, but not so far that the whole class lies there at once.
        while building < machines.builders and len(ready) < 4 * max(1, self._slots):
            if (order := next(waiting, None)) is None:
                break
            self._send(order, 1, build=True)
            building += 1
        return bool(self._flying or ready)

    def _send(self, order: Order, tries: int, *, build: bool) -> None:
        machines = self._machines
        task, name = (batch_work.build, "build") if build else (self._task, "grade")
        held = machines.building if build else machines.grading
        future = machines.client.submit(
            task, order.text(), key=f"{name}-{order.key}-{tries}", pure=False, resources=held or None
        )
        self._flying[future.key] = _Flight(future, order, tries, build)
        future.add_done_callback(self._answers.put)

    def _more(self) -> Iterator[Future]:
        """Whatever else is over by now, so that one way to the workers fetches it all."""
        for _ in range(MOST_AT_ONCE):
            try:
                yield self._answers.get_nowait()
            except queue.Empty:
                return

    def _read_all(self, over: list[Future]) -> list[tuple[Future, str, str]]:
        over = [future for future in over if future.key in self._flying]
        fine = [future for future in over if future.status == "finished"]
        try:
            texts = dict(zip(fine, self._machines.client.gather(fine), strict=True)) if len(fine) > 1 else {}
        except Exception:  # one of them is lost with its worker: each by itself, then
            texts = {}
        return [(f, str(texts[f]), "") if f in texts else (f, *self._read(f)) for f in over]

    def _read(self, future: Future) -> tuple[str, str]:
        """The answer's text, or "" and the reason."""
        if future.cancelled():
            self._lost()
        try:
            return str(future.result(timeout=30)), ""
        except Exception as error:
            if type(error).__name__ == "KilledWorker":
                self._died = time.monotonic()
                return "", "The process that graded it died, twice; this is not a verdict on the file."
            if self._machines.client.status != "running":
                self._lost()
            return "", f"The answer was lost ({type(error).__name__}: {error})."

    def _watch(self) -> None:
        """A scheduler that stays away is the end."""
        client = self._machines.client
        if client.status != "running":
            self._away += 1.0
            if self._away >= PATIENCE_S or client.status == "closed":
                self._lost()
        else:
            self._away = 0.0

    def _count(self) -> None:
        """Workers come and go. Two gradings at one worker would both be blamed for its death."""
        now = time.monotonic()
        shaken = not self._ahead and now - self._died < SHAKEN_S
        if (shaken or now - self._looked > LOOK_S) and self._machines.client.status == "running":
            self._looked = now
            kind = next(iter(self._machines.grading), "")
            self._slots = offered(self._machines.client, kind)

    def _lost(self) -> None:
        raise LostError(
            "The Dask scheduler has gone. Everything that was finished is in the journal; "
            "start the scheduler again and run the same command: it goes on where it was."
        )
