"""Call the submission's timer while every clock of the process is the referee's virtual one."""

from __future__ import annotations

import contextlib
import time
import timeit
from typing import TYPE_CHECKING, Any

import torch

from grader.player.commands.plain import Said, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.player.commands import Callback
    from grader.player.stage import Stage


class Host:
    """What the host can do; each is a question to the referee."""

    def __init__(self, callback: Callback) -> None:
        self._callback, self.events = callback, 0

    def do(self, *step: Any) -> Any:
        """One step; raises what CUDA would raise."""
        reply = self._callback.ask(list(step))
        if "error" in reply:
            raise RuntimeError(reply["error"])
        return reply.get("value")


class Buffer:
    """An input that lies in the virtual device's memory."""

    def __init__(self, number: int) -> None:
        self.number = number


class Output:
    """What a kernel writes to, in the virtual device's memory."""


def perform(stage: Stage, callback: Callback, entry: str, kind: str) -> Said:
    """Call ``entry`` with a function to time ("timer"), or with build and make functions ("benchmark")."""
    host, target = Host(callback), stage.entry(entry)

    def kernel(x: Buffer, out: Output) -> None:
        for name, given, kind, maker in (("x", x, Buffer, "make_input"), ("out", out, Output, "make_output")):
            if not isinstance(given, kind):
                what = {Buffer: "an input", Output: "an output"}.get(type(given), f"a {type(given).__name__}")
                raise TypeError(f"kernel(x, out): {name} must be what {maker}() gives, and it is {what}")
        host.do("launch", x.number)

    kernel.__qualname__ = "kernel"  # what Python says of a call with other arguments

    def build() -> Callable[..., None]:
        host.do("build")
        return kernel

    def make_output() -> object:
        host.do("output")
        return Output()

    # The current stream is not the default one, which the kernel would not be in.
    current = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    with torch.cuda.stream(current), _virtual(host, vars(stage.module)):
        if kind == "timer":
            result = target(lambda: host.do("launch", 0))
        else:
            result = target(build, lambda: Buffer(host.do("input")), make_output)
    return {"value": plain(result)}


@contextlib.contextmanager
def _virtual(host: Host, names: dict[str, object]) -> Iterator[None]:
    """Put the virtual clock in place of the real ones, in the modules and in the submission's own names."""
    event = _event_class(host)

    def now() -> float:
        return float(host.do("now"))

    def now_ns() -> int:
        return round(now() * 1e9)

    def wait(*_: object) -> None:
        host.do("sync")

    def sleep(seconds: float) -> None:
        host.do("sleep", seconds)

    swaps: list[tuple[Any, str, Any]] = [
        *((time, name, now) for name in ("time", "perf_counter", "monotonic", "process_time")),
        *((time, f"{name}_ns", now_ns) for name in ("time", "perf_counter", "monotonic", "process_time")),
        (time, "sleep", sleep),
        (timeit, "default_timer", now),
        (torch.cuda, "Event", event),
        (torch.cuda, "synchronize", wait),
        (torch.cuda.Stream, "synchronize", wait),
    ]
    kept = [(owner, name, getattr(owner, name)) for owner, name, _ in swaps]
    fakes = {id(old): new for (_, _, old), (_, _, new) in zip(kept, swaps, strict=True)}
    own = {name: value for name, value in names.items() if id(value) in fakes}
    for owner, name, new in swaps:
        setattr(owner, name, new)
    names.update({name: fakes[id(value)] for name, value in own.items()})
    try:
        yield
    finally:
        for owner, name, old in kept:
            setattr(owner, name, old)
        names.update(own)


def _event_class(host: Host) -> type:
    class Event:
        """torch.cuda.Event on the virtual device."""

        def __init__(self, enable_timing: bool = False, **others: bool) -> None:  # noqa: FBT001, FBT002 - as torch's
            if unknown := sorted(others.keys() - {"blocking", "interprocess", "external"}):
                raise TypeError(f"Event.__new__() got an unexpected keyword argument '{unknown[0]}'")
            host.events += 1
            self._number, self._timing = host.events, enable_timing

        def record(self, stream: object = None) -> None:
            elsewhere = stream is not None and stream != torch.cuda.current_stream()
            host.do("record", self._number, elsewhere)

        def synchronize(self) -> None:
            host.do("wait", self._number)

        def wait(self, stream: object = None) -> None:
            """Streams are in order here."""

        def query(self) -> bool:
            return bool(host.do("query", self._number))

        def elapsed_time(self, end_event: Event) -> float:
            if not (self._timing and end_event._timing):
                raise ValueError("Both events must be created with argument 'enable_timing=True'.")
            return float(host.do("elapsed", self._number, end_event._number))

    return Event
