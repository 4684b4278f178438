"""A call with another current stream than the default one: does its work go there, and wait there?

On a GPU nothing of this is decided by how long something takes. The current stream is a new one, which the
driver does not keep in order with the default stream, and it is idle: what belongs there can begin at once.
The default stream is held back, and goes on when the call has returned and its results were copied on the
current stream. So a result that some work on the default stream has made is not in the copies, however fast
that work is, and one that was made on the current stream is, however slow.

To hold the current stream back and have inputs come late there would find the same launches. But the copies
wait there too, so it would depend on time whether a launch that another one has delayed still makes it; and
every call that waits for its own results would wait as well. The default stream is held back for a limited
time and not until somebody lets it go: a call that waits for the whole device would never return. Whether
the time was long enough is seen by events, and told: if it was not, nothing is decided by that call.

A call that waits for the device cannot be seen in this way. For it the streams of its kernels are traced.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import torch

from grader.player import late_inputs, observe, values
from grader.player.tensors import plain

if TYPE_CHECKING:
    from collections.abc import Callable

Call: TypeAlias = "Callable[[], Any]"
MOST_KERNELS, MOST_NAME = 20, 500
FIRST = "spin_kernel"  # what keeps a stream busy

# Held since before the submission is loaded: what it puts in their place later on is not asked.
Event, Stream = torch.cuda.Event, torch.cuda.Stream
on, default_stream, synchronize = torch.cuda.stream, torch.cuda.default_stream, torch.cuda.synchronize
record, query, elapsed = torch.cuda.Event.record, torch.cuda.Event.query, torch.cuda.Event.elapsed_time


@dataclass(slots=True)
class CallApart:
    """What came of a call: its ``value``, and copies of its tensors.

    Attributes:
        value: What it returned.
        copies: Of its tensors, made on the stream that was the current one; None where nobody made any.
        launched: The default stream was held back until the call had returned.
        copied: It was, until the copies were made.
        seconds: Until then, from the moment at which the call began.
        on_default: Names of kernels that ran on the default stream, where they were traced.
    """

    value: Any
    copies: list[Any] | None = None
    launched: bool = False
    copied: bool = False
    seconds: float = 0.0
    on_default: tuple[str, ...] = ()


class OtherStream:
    """The other stream, always the same: the second time libraries have what they need on a stream."""

    def __init__(self) -> None:
        self.stream = Stream()  # type: ignore[no-untyped-call]
        if told := getattr(self.stream, "of_the_grader", None):  # without a GPU
            told()

    def plainly(self, call: Call) -> CallApart:
        """Make the call there, where nothing else can be seen of it."""
        with on(self.stream), torch.no_grad():
            return CallApart(call())

    def held(self, call: Call, hold_s: float, ready: Call) -> CallApart:
        """Make the call there while the default stream is held back for ``hold_s`` seconds.

        ``ready``: what else to do on that stream before.
        """
        begun, gone_on, done = _event(), _event(), _event()
        with on(self.stream):
            ready()
        synchronize()
        with on(default_stream()):
            record(begun)
            late_inputs.keep_busy_s(hold_s)
            record(gone_on)
        with on(self.stream):
            with torch.no_grad():
                value = call()
            launched = not query(gone_on)  # type: ignore[no-untyped-call]
            copies = copied(value)
            record(done)
        synchronize()
        seconds = elapsed(begun, done) / 1e3
        return CallApart(value, copies, launched, seconds < elapsed(begun, gone_on) / 1e3, seconds)

    def traced(self, call: Call) -> CallApart:
        """Make the call there and see which of its kernels run on the default stream."""
        with observe.recording() as seen:
            with on(default_stream()):
                late_inputs.keep_busy_s(0.0)  # the first kernel of the trace, which names the stream
            synchronize()
            with on(self.stream), torch.no_grad():
                value = call()
                copies = copied(value)
            synchronize()
        names = observe.beside_the_first(observe.trace(seen), FIRST)
        return CallApart(value, copies, on_default=tuple(n[:MOST_NAME] for n in names[:MOST_KERNELS]))


def _event() -> torch.cuda.Event:
    return Event(enable_timing=True)  # type: ignore[no-untyped-call]


def copied(value: Any) -> list[Any]:
    """The tensors of a result as they are when all that the current stream had to do is done."""
    found: list[torch.Tensor] = []
    values.encode(value, found)
    return [t.clone() if plain(t) else t for t in found]
