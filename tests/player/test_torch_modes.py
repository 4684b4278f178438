"""No mode of torch stays on after a file's own code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from grader.player import torch_modes

if TYPE_CHECKING:
    from collections.abc import Iterator


class Dispatches(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class Functions(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


@pytest.fixture
def before() -> Iterator[tuple[int, int]]:
    yield torch_modes.count()
    torch.set_default_device(None)


@pytest.mark.parametrize("kind", [Dispatches, Functions])
def test_a_mode_that_was_left_on_is_switched_off_and_named(kind: Any, before: tuple[int, int]) -> None:
    kind().__enter__()
    with pytest.raises(torch_modes.ModeLeftOnError, match=rf"After the call .*{kind.__name__}"):
        torch_modes.end_those_above(before, "the call")
    assert torch_modes.count() == before


def test_one_that_ended_and_one_from_before_are_nobodys_fault(before: tuple[int, int]) -> None:
    with Functions():
        inside = torch_modes.count()
        with Dispatches():
            torch.ones(1)
        torch_modes.end_those_above(inside, "the call")
        assert torch_modes.count() == inside
    assert torch_modes.count() == before


def test_the_default_device_may_stay(before: tuple[int, int]) -> None:
    torch.set_default_device("meta")
    torch_modes.end_those_above(before, "the import of the file")
    assert torch.ones(1).device.type == "meta"
