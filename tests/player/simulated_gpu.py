"""A GPU's streams without a GPU: operators of CPU tensors happen when their stream gets to them.

The clock is the device's own, so who comes first is the same each time. The rules are those of CUDA's
programming guide for the legacy default stream: it is in order with every stream but the non-blocking ones,
and those of PyTorch are non-blocking.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from grader.player import late_inputs, other_stream
from grader.player import stage as stage_module

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pytest

LAUNCH_S, KERNEL_S, LATENCY_S = 3e-6, 5e-6, 2e-6  # of the host, of the device, from one to the other
AT_ONCE = {"set_", "detach", "alias", "lift_fresh"}
READS = {"_local_scalar_dense", "equal", "is_nonzero"}


class SimulatedStream:
    """A queue; ``end``: when what is in it so far will be done."""

    def __init__(self, device: SimulatedGpu, *, blocking: bool = False, legacy: bool = False) -> None:
        self.device, self.blocking, self.legacy, self.end = device, blocking, legacy, 0.0
        device.streams.append(self)

    def begin(self) -> float:
        """When an operation that is queued now begins."""
        others = [s.end for s in self.device.streams if (s.blocking if self.legacy else s.legacy)]
        in_order = others if self.legacy or self.blocking else []
        return max(self.device.now + LATENCY_S, self.end, *in_order, 0.0)

    def wait_event(self, event: SimulatedEvent) -> None:
        self.end = max(self.end, event.when)

    def wait_stream(self, other: SimulatedStream) -> None:
        event = SimulatedEvent(self.device)
        event.record(other)
        self.wait_event(event)

    def synchronize(self) -> None:
        self.device.wait_until(self.begin())


class SimulatedEvent:
    def __init__(self, device: SimulatedGpu) -> None:
        self.device, self.when = device, 0.0

    def record(self, stream: SimulatedStream | None = None) -> None:
        stream = stream or self.device.current
        self.when = stream.end = stream.begin()

    def query(self) -> bool:
        return self.when <= self.device.now

    def elapsed_time(self, other: SimulatedEvent) -> float:
        return (other.when - self.when) * 1e3


class SimulatedGpu:
    """The device; ``now`` is its host's clock, in seconds."""

    def __init__(self) -> None:
        self.now, self.running = 0.0, False
        self.streams: list[SimulatedStream] = []
        self.waiting: list[tuple[float, int, Callable[[], Any]]] = []
        self.kernels: list[tuple[float, int, str]] = []
        self.asked = 0
        self.default = self.current = SimulatedStream(self, legacy=True)

    def queue(self, name: str, seconds: float, effect: Callable[[], Any]) -> None:
        """An operation on the current stream: it happens when it begins."""
        begin, self.asked = self.current.begin(), self.asked + 1
        self.current.end = begin + seconds
        self.waiting.append((begin, self.asked, effect))
        self.kernels.append((begin, self.streams.index(self.current), name))
        self.now += LAUNCH_S

    def sleep(self, cycles: int) -> None:
        self.queue("spin_kernel(long)", cycles / late_inputs.CYCLES_A_SECOND, lambda: None)

    def pause(self, seconds: float) -> None:
        """The host does something else."""
        self.now += seconds

    def wait_until(self, when: float) -> None:
        """The host waits; what has begun by then has happened."""
        self.now = max(self.now, when)
        due = sorted(w for w in self.waiting if w[0] <= self.now)
        self.waiting = [w for w in self.waiting if w[0] > self.now]
        self.running = True
        try:
            for _, _, effect in due:
                effect()
        finally:
            self.running = False

    def synchronize(self) -> None:
        self.wait_until(max(s.end for s in self.streams))

    @contextlib.contextmanager
    def stream(self, stream: SimulatedStream) -> Iterator[None]:
        before, self.current = self.current, stream
        try:
            yield
        finally:
            self.current = before

    @contextlib.contextmanager
    def recording(self) -> Iterator[list[tuple[float, int, str]]]:
        self.kernels.clear()
        yield self.kernels

    @staticmethod
    def trace(kernels: list[tuple[float, int, str]]) -> list[dict[str, Any]]:
        return [
            {
                "cat": "kernel",
                "ph": "X",
                "ts": begin * 1e6,
                "dur": 1.0,
                "name": name,
                "args": {"stream": stream},
            }
            for begin, stream, name in kernels
        ]

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """In the place of torch.cuda, also where the player has kept its functions."""
        torch_cuda = {
            "Stream": lambda *_, **__: SimulatedStream(self),
            "Event": lambda *_, **__: SimulatedEvent(self),
            "stream": self.stream,
            "current_stream": lambda *_: self.current,
            "default_stream": lambda *_: self.default,
            "synchronize": self.synchronize,
            "_sleep": self.sleep,
        }
        for name, value in torch_cuda.items():
            monkeypatch.setattr(torch.cuda, name, value, raising=False)
        kept = {
            "Stream": torch_cuda["Stream"], "Event": torch_cuda["Event"], "on": self.stream,
            "default_stream": torch_cuda["default_stream"], "synchronize": self.synchronize,
            "record": SimulatedEvent.record, "query": SimulatedEvent.query,
            "elapsed": SimulatedEvent.elapsed_time,
        }  # fmt: skip
        for name, value in kept.items():
            monkeypatch.setattr(other_stream, name, value)
        monkeypatch.setattr(late_inputs, "synchronize", self.synchronize)
        monkeypatch.setattr(late_inputs, "sleep", self.sleep)
        monkeypatch.setattr(other_stream.observe, "recording", self.recording)
        monkeypatch.setattr(other_stream.observe, "trace", self.trace)
        monkeypatch.setattr(stage_module.time, "perf_counter", lambda: self.now)
        for name in ("invoke", "invoke_apart"):
            monkeypatch.setattr(stage_module.Stage, name, self.on_this(getattr(stage_module.Stage, name)))

    def on_this(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """The method, with operators that happen on this device."""

        def invoke(*args: Any) -> Any:
            with Deferred(self):
                found = method(*args)
            self.synchronize()
            return found

        return invoke


class Deferred(TorchDispatchMode):
    """Operators are queued. Until they have happened their results hold NaN."""

    def __init__(self, device: SimulatedGpu) -> None:
        super().__init__()
        self.device = device

    def __torch_dispatch__(self, func: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = func._schema.name.removeprefix("aten::")
        if self.device.running or func.is_view or name in AT_ONCE:
            return func(*args, **kwargs)
        if name in READS:
            self.device.current.synchronize()
            return func(*args, **kwargs)
        written = [
            (kwargs[a.name] if a.name in kwargs else args[n])
            for n, a in enumerate(func._schema.arguments)
            if a.alias_info and a.alias_info.is_write and (a.name in kwargs or n < len(args))
        ]
        if written:
            self.device.queue(name, KERNEL_S, lambda: func(*args, **kwargs))
            return written[0]
        out = func(*args, **kwargs)
        nothing = torch.nan if out.is_floating_point() else 0
        out.fill_(nothing)
        if not name.startswith("empty"):
            self.device.queue(name, KERNEL_S, lambda: out.copy_(func(*args, **kwargs)))
        return out
