"""torch.cuda.Event and torch.cuda.Stream: one queue, in which all work runs in the order of the program.

Each stream has a handle of its own all the same, and the runtime library is told who waits for whom: it knows
which work a GPU could run at once (``csrc/stream_order.cpp``).
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from typing import Any, ClassVar, Self

HANDLES = itertools.count(1 << 32)  # those that C++ makes itself are below
NEVER, QUEUED = -2.0, -1.0
MOST_PENDING = 4096
FAULTS = {
    700: "an illegal memory access was encountered",
    702: "the launch timed out and was terminated",
    710: "device-side assert triggered",
    716: "misaligned address",
}


def check(code: int) -> None:
    """Raises what PyTorch raises where a call that waits for the device finds an error."""
    import torch

    if code:
        error = getattr(torch, "AcceleratorError", RuntimeError)
        raise error(f"CUDA error: {FAULTS.get(code, 'unspecified launch failure')}")


class Queue:
    """The work that the runtime library has not done yet, and the stream that a thread's work goes to."""

    def __init__(self, library: ctypes.CDLL) -> None:
        library.simt_is_idle.restype = ctypes.c_int
        self._library = library
        self._of_thread = threading.local()
        self._pending: list[ctypes.c_double] = []  # what the queue still writes to must not be freed

    @property
    def current(self) -> Stream | None:
        """The current stream of this thread; None is the default one."""
        found: Stream | None = getattr(self._of_thread, "current", None)
        return found

    @current.setter
    def current(self, stream: Stream | None) -> None:
        self._of_thread.current = stream
        self._library.simt_set_current_stream(ctypes.c_void_p(stream.cuda_stream if stream else 0))

    def record(self) -> ctypes.c_double:
        """A number that becomes the time at which the work queued so far is done."""
        when = ctypes.c_double(QUEUED)
        self._pending.append(when)
        self._library.simt_record_event(ctypes.byref(when))
        if len(self._pending) > MOST_PENDING:
            self.wait()
        return when

    def order(self, what: str, *handles: int) -> None:
        """Tells the library who waits for whom: ``simt_WHAT``, for streams and events by their handles."""
        getattr(self._library, f"simt_{what}")(*map(ctypes.c_void_p, handles))

    def synchronize(self) -> None:
        """Runs all that is queued, and raises what has failed in it."""
        check(self._library.simt_synchronize())

    def is_idle(self) -> bool:
        """Whether nothing is queued."""
        return bool(self._library.simt_is_idle())

    def wait(self) -> None:
        """Runs all that is queued."""
        self._library.simt_wait()
        self._pending.clear()


class Event:
    """torch.cuda.Event: the moment at which the work queued before it was done."""

    queue: ClassVar[Queue]

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, **_: Any
    ) -> None:
        self._timed = enable_timing
        self._when = ctypes.c_double(NEVER)
        self._handle = next(HANDLES)

    def record(self, stream: Any = None) -> None:
        """Queues the event."""
        self._when = self.queue.record()
        self.queue.order("event_on", self._handle, handle_of(stream))

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to ``end_event``; an error while either is still queued."""
        if not (self._timed and end_event._timed):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        times = self._when.value, end_event._when.value
        if NEVER in times:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        if QUEUED in times:
            raise RuntimeError("CUDA error: device not ready")
        return (times[1] - times[0]) * 1e3

    def synchronize(self) -> None:
        """Waits for the work that was queued before the event."""
        if self._when.value == QUEUED:
            self.queue.wait()
        self.queue.order("host_waits_for_event", self._handle)

    def query(self) -> bool:
        """Whether that work is done. Asking lets it go on, so a loop that asks ends."""
        done = self._when.value != QUEUED
        if not done:
            self.queue.wait()
        self.queue.order("host_waits_for_event", self._handle)
        return done

    def wait(self, stream: Any = None) -> None:
        """What is put on the stream from now on comes after the event."""
        self.queue.order("stream_waits", handle_of(stream), self._handle)


class Stream:
    """torch.cuda.Stream: work on it is in order, and with other work where somebody waits."""

    queue: ClassVar[Queue]
    event: ClassVar[type[Event]]
    device_index = 0
    priority = 0

    def __init__(self, device: Any = None, priority: int = 0, handle: int | None = None, **_: Any) -> None:
        self.cuda_stream = next(HANDLES) if handle is None else handle
        self._outer: Stream | None = None
        if self.cuda_stream:
            self.queue.order("new_stream", self.cuda_stream, 0)

    def of_the_grader(self) -> None:
        """Says that it is no stream of the submission's: whoever made it waits for what it does."""
        self.queue.order("uncount_stream", self.cuda_stream)

    def synchronize(self) -> None:
        """Waits for everything that is queued."""
        self.queue.synchronize()
        self.queue.order("host_waits_for_stream", self.cuda_stream)

    def query(self) -> bool:
        """Whether nothing is queued. Asking lets the work go on."""
        idle = self.queue.is_idle()
        if not idle:
            self.queue.wait()
        self.queue.order("host_waits_for_stream", self.cuda_stream)
        return idle

    def wait_stream(self, stream: Any) -> None:
        """What is put on this stream from now on comes after what the other one has now."""
        self.queue.order("stream_follows", self.cuda_stream, handle_of(stream))

    def wait_event(self, event: Any) -> None:
        """What is put on this stream from now on comes after the event."""
        event.wait(self)

    def record_event(self, event: Event | None = None) -> Event:
        """Queues an event."""
        event = event or self.event()
        event.record(self)
        return event

    def __enter__(self) -> Self:
        self._outer, self.queue.current = self.queue.current, self
        return self

    def __exit__(self, *_: object) -> None:
        self.queue.current = self._outer


def handle_of(stream: Any) -> int:
    """The handle of a stream of whoever's making; 0 for None, which is the current one."""
    return int(getattr(stream, "cuda_stream", 0) or 0)


def make(library: ctypes.CDLL) -> tuple[type[Event], type[Stream]]:
    """(Event, Stream) for the runtime ``library``."""
    queue = Queue(library)
    event = type("Event", (Event,), {"queue": queue})
    return event, type("Stream", (Stream,), {"queue": queue, "event": event})
