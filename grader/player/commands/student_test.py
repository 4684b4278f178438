"""Run a test of the submission on a kernel that it cannot see: each of its calls goes to the referee."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

import torch

from grader.player import exceptions, tensor_codec
from grader.player.differing_elements import Differing, differing

if TYPE_CHECKING:
    from grader.player.commands import Callback
    from grader.player.stage import Stage
    from grader.protocol.wire import Json

MAX_CALLS = 200


class KernelError(RuntimeError):
    """The kernel under test refused its input, or CUDA reported an error."""


class MemoryFaultError(KernelError):
    """The memory checks caught a thread of the kernel under test: out of bounds, a race, and so on."""


class KernelUnderTest:
    """The kernel under test, as a test function sees it: something to call with tensors."""

    def __init__(self, callback: Callback) -> None:
        self._callback, self.calls = callback, 0
        self.results: list[torch.Tensor] = []  # the last one
        self.over = False  # then that one is given again

    def __call__(self, *args: Any) -> Any:
        """Call the kernel; raises MemoryFaultError or KernelError when the call did not end well."""
        if self.over:
            return self.results[-1]
        self.calls += 1
        if self.calls > MAX_CALLS:
            raise RuntimeError(f"the test called the kernel more than {MAX_CALLS} times")
        reply = self._callback.ask(
            {"args": [tensor_codec.wrap(a) for a in args], "autocast": torch.is_autocast_enabled("cuda")}
        )
        if reply.get("raised"):
            raise (MemoryFaultError if reply.get("memory") else KernelError)(reply["raised"])
        tensors = [a for a in args if isinstance(a, torch.Tensor)]
        for tensor, after in zip(tensors, reply["after"], strict=True):
            tensor_codec.refill(tensor, after)
        result = tensor_codec.unwrap(reply["result"])
        self.results = [result] if isinstance(result, torch.Tensor) else []
        return result


class Outcome(TypedDict):
    """Calls of the kernel by the test, its exception (``exceptions.describe``), and what differs there."""

    failed: Json | None
    calls: int
    differs: Differing | None


def perform(stage: Stage, callback: Callback, entry: str, args: list[Any]) -> Outcome:
    """Run the test ``entry`` with the kernel and ``args``."""
    test, kernel = stage.entry(entry), KernelUnderTest(callback)
    try:
        test(kernel, *args)
    except BaseException as error:
        kernel.over = True
        differs = differing(error, stage.path, kernel.results)
        return {"failed": exceptions.describe(error, stage.path), "calls": kernel.calls, "differs": differs}
    return {"failed": None, "calls": kernel.calls, "differs": None}
