"""A virtual host and a virtual device with one clock, so that a timer can be judged where there is no GPU.

The host queues work and goes on; the device does what is queued, one after another. All times are in seconds.
The costs of the host's own steps are near to what a CUDA program sees, and drawn for each machine; durations
are the probe's.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Protocol, TypedDict

from grader.domain.verdict import Status
from grader.referee.fault import FaultError

LAUNCH, RECORD, SYNC, READ = 5e-6, 1e-6, 4e-6, 5e-8
QUEUE = 1024  # launches that may wait; then the host waits too
IN_CACHE = 4  # buffers that were touched last
MAX_LAUNCHES = 20_000


class Reply(TypedDict, total=False):
    """What came of a step: a ``value`` (a time, a number, whether), or the ``error`` of CUDA."""

    value: float
    error: str


class Kernel(Protocol):
    """What is launched."""

    def __call__(self, call: int, *, cold: bool) -> float:
        """Seconds that this launch takes on the device; ``cold``: its buffer is not in the cache."""


@dataclass(slots=True)
class Machine:
    """A host and a device that runs one kernel.

    ``first`` is what the host spends in the first call, ``build`` in a build, ``output`` in an allocation;
    ``launch`` and ``sync`` in each launch and each wait.
    """

    kernel: Kernel
    first: float = 0.0
    build: float = 0.0
    output: float = 0.0
    launch: float = LAUNCH
    sync: float = SYNC
    host: float = 100.0
    device: float = 0.0
    durations: list[float] = field(default_factory=list)
    apart: int = 0  # events that were recorded in another stream than the kernel's
    made_inside: int = 0  # inputs that were made between two events whose distance was asked for
    timed: dict[int, None] = field(default_factory=dict)  # the launches between two such events
    _queue: deque[float] = field(default_factory=deque)
    _events: dict[int, float] = field(default_factory=dict)
    _inputs_at: dict[int, int] = field(default_factory=dict)  # how many there were at each event
    _launches_at: dict[int, int] = field(default_factory=dict)
    _touched: deque[int] = field(default_factory=lambda: deque(maxlen=IN_CACHE))
    _buffers: int = 0

    def serve(self, wants: Any) -> Reply:
        """Do one step of the host and answer what came of it."""
        try:
            step, *rest = wants
            return getattr(self, f"_do_{step}")(*rest)  # type: ignore[no-any-return]
        except (TypeError, ValueError, AttributeError, KeyError) as error:
            raise FaultError(
                Status.TAMPERED, f"The clock was asked for something impossible: {error}"
            ) from error

    def busy(self, seconds: float) -> None:
        """Put older work into the queue."""
        self.device = max(self.host, self.device) + seconds

    def _do_now(self) -> Reply:
        self.host += READ
        return {"value": self.host}

    def _do_sleep(self, seconds: float) -> Reply:
        self.host += min(max(0.0, float(seconds)), 60.0)
        return {}

    def _do_launch(self, buffer: int) -> Reply:
        if len(self.durations) >= MAX_LAUNCHES:
            raise FaultError(Status.TIMEOUT, f"It has launched {MAX_LAUNCHES:,} times and was stopped.")
        call = len(self.durations)
        self.host += self.launch + (self.first if call == 0 else 0.0)
        while self._queue and self._queue[0] <= self.host:
            self._queue.popleft()
        if len(self._queue) >= QUEUE:
            self.host = self._queue.popleft()
        self.durations.append(self.kernel(call, cold=buffer not in self._touched))
        self._touch(buffer)
        self.device = max(self.host, self.device) + self.durations[-1]
        self._queue.append(self.device)
        return {}

    def _do_build(self) -> Reply:
        self.host += self.build
        return {}

    def _do_input(self) -> Reply:
        self._buffers += 1
        self._touch(self._buffers)  # it is written when it is made
        return {"value": self._buffers}

    def _do_output(self) -> Reply:
        if self.output:
            self.host = max(self.host, self.device) + self.output  # a large allocation waits for the device
        return {}

    def _do_record(self, event: int, elsewhere: bool = False) -> Reply:  # noqa: FBT001, FBT002 - a step's argument
        self.host += RECORD
        self.apart += elsewhere
        # In a stream without work the device passes it at once.
        self._events[int(event)] = self.host if elsewhere else max(self.host, self.device)
        self._inputs_at[int(event)] = self._buffers
        self._launches_at[int(event)] = len(self.durations)
        return {}

    def _do_sync(self) -> Reply:
        self.host = max(self.host, self.device) + self.sync
        return {}

    def _do_wait(self, event: int) -> Reply:
        self.host = max(self.host, self._events.get(int(event), 0.0)) + self.sync
        return {}

    def _do_query(self, event: int) -> Reply:
        self.host += RECORD
        return {"value": self._events.get(int(event), math.inf) <= self.host}

    def _do_elapsed(self, start: int, end: int) -> Reply:
        if start not in self._events or end not in self._events:
            return {"error": "Both events must be recorded before calculating elapsed time."}
        if max(self._events[start], self._events[end]) > self.host:
            return {"error": "CUDA error: device not ready"}
        self.made_inside += max(0, self._inputs_at[end] - self._inputs_at[start])
        between = range(self._launches_at[start], self._launches_at[end])
        if len(between) == 1:
            self.timed[between[0]] = None
        return {"value": (self._events[end] - self._events[start]) * 1e3}

    def _touch(self, buffer: int) -> None:
        if buffer in self._touched:
            self._touched.remove(buffer)
        self._touched.append(buffer)
