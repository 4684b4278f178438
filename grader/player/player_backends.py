"""The back ends as a player sees them: how ``load_inline`` builds, and what can be observed of a call."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Protocol

from grader.protocol.messages import (
    MOST_LAUNCHES,
    BuildReply,
    Facts,
    Observed,
    Ownership,
    Writer,
    decode,
    plain,
)

if TYPE_CHECKING:
    import argparse

    import torch

    from grader.backends.extension.request import BuildRequest
    from grader.player.stage import Stage
    from grader.protocol.wire import Channel, Json

MOST_TOLD = 50  # findings with one answer


class Backend(Protocol):
    """What the player's loop needs of a back end."""

    def facts(self) -> Facts:
        """Versions and device name."""

    def observed(self) -> Json:
        """What was seen since the last answer (memory findings, launches); merged into every answer."""

    def owner(self, stage: Stage, /, **request: Any) -> Json:
        """Which block and thread wrote an element of the last result."""

    def count(self, **request: Any) -> Json:
        """Switch the counting of memory traffic on or off."""

    def check(self, **request: Any) -> Json:
        """Switch the checks of memory on or off."""

    def schedule(self, **request: Any) -> Json:
        """In which order blocks and warps run from now on."""

    def change(self, **request: Any) -> Json:
        """Which alternative of an instrumented source is taken from now on."""


class Forkable(Backend, Protocol):
    """One that a process can wake before it forks players."""

    def adopt(self, channel: Channel, options: argparse.Namespace) -> None:
        """After a fork: serve this referee from now on."""


def wake(channel: Channel, options: argparse.Namespace) -> Backend:
    """Make the back end ready; for simt this must come before torch is imported."""
    if options.backend == "cuda":
        from grader.player.gpu_device import Cuda

        return Cuda(channel)
    return Simt(channel, options) if options.backend == "simt" else Plain()


def wake_to_fork(options: argparse.Namespace) -> Forkable:
    """The same, and nobody is served yet: :meth:`Forkable.adopt` follows in each fork."""
    return Simt(None, options) if options.backend == "simt" else Plain()


class Plain:
    """CPU tensors, no kernels: for references beside the CPU back end."""

    def adopt(self, _channel: Channel, _options: argparse.Namespace) -> None:
        """Nothing is bound to a referee."""

    def facts(self) -> Facts:
        """Versions."""
        import torch

        torch.set_num_threads(1)
        return Facts(torch=str(torch.__version__), device="cpu")

    def observed(self) -> Json:
        """Nothing to see."""
        return {}

    def owner(self, _stage: Stage, /, **_: Any) -> Json:
        """No threads here."""
        return {}

    def count(self, **_: Any) -> Json:
        """Nothing is counted."""
        return {}

    def check(self, **_: Any) -> Json:
        """Nothing is checked."""
        return {}

    def schedule(self, **_: Any) -> Json:
        """Nothing has an order here."""
        return {}

    def change(self, **_: Any) -> Json:
        """Nothing has alternatives here."""
        return {}


class Simt(Plain):
    """The CPU back end. Compiling is the referee's work: this side asks for it and imports the result."""

    def __init__(self, channel: Channel | None, options: argparse.Namespace) -> None:
        from grader.backends.simt.runtime import device

        self._channel = channel
        self._runtime = device.activate(
            self._build, options.libraries, last_words_fd=options.words, step_budget=options.step_budget
        )
        self._words = options.words
        self._runtime.at_exit(self._end)
        # Bound now: a file that replaces these methods of the classes later on changes nothing.
        self._findings, self._launches = self._runtime.findings, self._runtime.launches

    def adopt(self, channel: Channel, options: argparse.Namespace) -> None:
        """Builds are asked for there, last words are left there, and the budget is its."""
        self._channel, self._words = channel, options.words
        self._runtime.begin(options.words, options.step_budget)

    def _end(self, _: int) -> None:
        """C++ code ends the process in the middle of a call: what was seen by then is its last words."""
        os.write(self._words, b"\n" + json.dumps(self.observed() | {"launches": []}).encode() + b"\n")

    def _build(self, request: BuildRequest) -> str:
        assert self._channel is not None
        self._channel.send({"build": request.as_json()})
        reply = decode(self._channel.receive(), BuildReply)
        if not reply.path:
            raise RuntimeError(f"Error building extension '{request.name}': {reply.message}")
        return reply.path

    def facts(self) -> Facts:
        """Versions and the name of the device that is stood in for."""
        import torch

        return Facts(torch=str(torch.__version__), device=torch.cuda.get_device_name())

    def observed(self) -> Json:
        """Memory findings and launches since the last answer."""
        found, launched = self._findings()[:MOST_TOLD], self._launches()[:MOST_LAUNCHES]
        return plain(Observed(tuple(found), tuple(launched)))

    def owner(self, stage: Stage, /, **request: Any) -> Json:
        """From the shadow memory: who last wrote element ``index`` (row-major) of output ``output``.

        With ``indices`` instead, the kernel that wrote each of them, or None.
        """
        tensor = stage.last[request["output"]]
        if "indices" in request:
            seen = [self._writer(tensor, index) for index in request["indices"]]
            return plain(Ownership(kernels=tuple(writer.kernel if writer else None for writer in seen)))
        if not tensor.is_cuda:  # no kernel is meant to write there
            return plain(Ownership())
        return plain(Ownership(seen=True, writer=self._writer(tensor, request["index"])))

    def _writer(self, tensor: torch.Tensor, flat: int) -> Writer | None:
        offset = 0
        for size, stride in zip(reversed(tensor.shape), reversed(tensor.stride()), strict=True):
            flat, at = divmod(flat, size)
            offset += at * stride
        address = tensor.data_ptr() + offset * tensor.element_size()
        return self._runtime.owner(address, tensor.element_size())

    def count(self, **request: Any) -> Json:
        """Count sectors and distinct bytes of the launches that follow."""
        self._runtime.count(on=bool(request["on"]))
        return {}

    def check(self, **request: Any) -> Json:
        """Off for tensors so large that what the checks note would not fit beside them."""
        self._runtime.check(on=bool(request["on"]))
        return {}

    def schedule(self, **request: Any) -> Json:
        """Shuffle the order of blocks and warps by ``seed``; 0 is their own order. Or let no block run."""
        self._runtime.schedule(int(request["seed"]), no_blocks=bool(request.get("no_blocks")))
        return {}

    def change(self, **request: Any) -> Json:
        """Take this alternative of an instrumented source; 0 is the source itself."""
        self._runtime.change(int(request["number"]))
        return {}
