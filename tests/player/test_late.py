"""Inputs that come late: who waits for the current stream finds them, who does not finds zeros."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from grader.player import late_inputs
from tests.player.simulated_gpu import Deferred, SimulatedGpu


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> SimulatedGpu:
    made = SimulatedGpu()
    made.install(monkeypatch)
    return made


def given(gpu: SimulatedGpu, inputs: list[Any], device: str = "cpu", host_s: float = 0.0) -> float:
    """Give inputs late; how long the current stream is busy then."""
    with Deferred(gpu):
        late_inputs.give_late(inputs, device, host_s)
    return gpu.default.end - gpu.now


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64])
def test_inputs_are_zeros_until_the_stream_gets_to_them(gpu: SimulatedGpu, dtype: torch.dtype) -> None:
    x = torch.arange(1, 61).reshape(5, 12).to(dtype)
    right, version, address = x.clone(), x._version, x.data_ptr()
    given(gpu, [x, 3])
    assert not x.any()
    gpu.synchronize()
    assert torch.equal(x, right)
    assert (x._version, x.data_ptr()) == (version, address)


@pytest.mark.parametrize(
    "view", [lambda x: x.t(), lambda x: x[1:, ::3], lambda x: x[:1].expand(9, 12), lambda x: x.diagonal()]
)
def test_all_of_the_memory_behind_a_view_comes_late(gpu: SimulatedGpu, view: Any) -> None:
    whole = torch.randn(5, 12)
    right = whole.clone()
    given(gpu, [view(whole), view(whole)])
    assert not whole.any()
    gpu.synchronize()
    assert torch.equal(whole, right)


def test_what_is_not_on_the_device_stays(gpu: SimulatedGpu) -> None:
    x = torch.ones(100)
    given(gpu, [x], "cuda")
    assert x.all()


def test_of_large_inputs_the_first_bytes_come_late(
    gpu: SimulatedGpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(late_inputs, "MAX_BYTES", 440)
    x, y, z = torch.ones(100), torch.ones(100), torch.ones(5)
    given(gpu, [x, y, z])
    assert not x.any() and not y[:10].any() and y[10:].all() and z.all()
    gpu.synchronize()
    assert x.all() and y.all()


@pytest.mark.parametrize(
    ("host_s", "busy_s"), [(0.0, 1e-3), (1e-4, 1e-3), (5e-3, 10e-3), (4.0, late_inputs.MOST_S)]
)
def test_a_slower_host_is_waited_for_longer(gpu: SimulatedGpu, host_s: float, busy_s: float) -> None:
    assert given(gpu, [torch.ones(4)], host_s=host_s) == pytest.approx(busy_s, rel=0.05)
