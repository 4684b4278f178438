"""The GPU's state: of the one that is used, where a host has several."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from grader.referee.timing import gpu_state


def nvml() -> SimpleNamespace:
    """A library whose GPUs are as warm as their number says."""
    return SimpleNamespace(
        NVML_CLOCK_SM=0,
        NVML_CLOCK_MEM=1,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetHandleByUUID=lambda uuid: {"GPU-ab": 7}[uuid],
        nvmlDeviceGetCurrentClocksThrottleReasons=lambda gpu: 0x20 if gpu else 0,
        nvmlDeviceGetName=lambda gpu: b"NVIDIA T",
        nvmlSystemGetDriverVersion=lambda: "580",
        nvmlDeviceGetClockInfo=lambda gpu, which: 1000 + which,
        nvmlDeviceGetTemperature=lambda gpu, which: 40 + gpu,
        NVML_TEMPERATURE_GPU=0,
    )


@pytest.mark.parametrize(
    ("visible", "celsius"), [(None, 40), ("", 40), ("1", 41), ("3, 1", 43), ("GPU-ab", 47)]
)
def test_the_state_is_that_of_the_first_visible_gpu(
    monkeypatch: pytest.MonkeyPatch, visible: str | None, celsius: int
) -> None:
    monkeypatch.setattr(gpu_state, "_nvml", nvml)
    if visible is None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    else:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    state = gpu_state.state()
    assert state and state.celsius == celsius and state.name == "NVIDIA T"
    assert state.throttled == (["thermal limit (software)"] if celsius > 40 else [])


def test_a_library_that_does_not_answer_is_no_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_state, "_nvml", nvml)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-unknown")
    assert gpu_state.state() is None
