"""Inputs that come late: who waits for the current stream finds them, who does not finds zeros."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from grader.player import late_inputs


class Stream:
    """One of a GPU; what is done is done at once."""

    def wait_stream(self, _: Any) -> None:
        """Nothing else runs."""

    def synchronize(self) -> None:
        """Nothing is left to do."""


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The tensor that is looked at, and what a kernel that does not wait finds in it."""
    seen: list[Any] = [None]
    fakes = {
        "Stream": Stream, "current_stream": Stream, "stream": lambda _: contextlib.nullcontext(),
        "_sleep": lambda _: seen.append(seen[0].clone()),
    }  # fmt: skip
    monkeypatch.setattr(late_inputs.torch, "cuda", SimpleNamespace(**fakes))
    return seen


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64])
def test_inputs_are_zeros_until_the_stream_gets_to_them(found: list[Any], dtype: torch.dtype) -> None:
    x = torch.arange(1, 61).reshape(5, 12).to(dtype)
    right, version, address, found[0] = x.clone(), x._version, x.data_ptr(), x
    with late_inputs.busy([x, 3], "cpu"):
        assert not found[1].any()
        assert torch.equal(x, right)
        assert (x._version, x.data_ptr()) == (version, address)


@pytest.mark.parametrize(
    "view", [lambda x: x.t(), lambda x: x[1:, ::3], lambda x: x[:1].expand(9, 12), lambda x: x.diagonal()]
)
def test_all_of_the_memory_behind_a_view_comes_late(found: list[Any], view: Any) -> None:
    whole = torch.randn(5, 12)
    right, found[0] = whole.clone(), whole
    with late_inputs.busy([view(whole), view(whole)], "cpu"):
        assert not found[1].any()
        assert torch.equal(whole, right)


def test_what_is_not_on_the_device_or_too_large_stays(
    found: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    x = torch.ones(100)
    found[0] = x
    with late_inputs.busy([x]):
        assert torch.equal(found[1], x)
    monkeypatch.setattr(late_inputs, "MAX_BYTES", 399)
    with late_inputs.busy([x], "cpu"):
        assert torch.equal(found[2], x)
    with late_inputs.busy():
        assert len(found) == 4
