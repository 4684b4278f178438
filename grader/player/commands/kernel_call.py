"""The other side of a mutation test: call a kernel of the lesson with tensors that the test passed."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import torch

from grader.player import tensor_codec

if TYPE_CHECKING:
    from grader.player.commands import Callback
    from grader.player.stage import Stage
    from grader.player.tensor_codec import Wrapped


class Called(TypedDict):
    """The ``result``, and the tensors among the arguments ``after`` the call."""

    result: Wrapped
    after: list[Wrapped]


def perform(stage: Stage, _callback: Callback, entry: str, args: list[Wrapped], *, autocast: bool) -> Called:
    """Call ``entry`` with what is wrapped in ``args``."""
    inputs = [tensor_codec.unwrap(a) for a in args]
    with torch.autocast("cuda", enabled=autocast):
        result = stage.entry(entry)(*inputs)
    stage.synchronize()
    after = [tensor_codec.wrap(a) for a in inputs if isinstance(a, torch.Tensor)]
    return {"result": tensor_codec.wrap(result), "after": after}
