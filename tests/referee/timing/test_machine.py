"""The GPU's state: of the one that is used, where a host has several."""

from __future__ import annotations

import importlib.util
import sys
from types import SimpleNamespace
from typing import Any

import pytest


@pytest.fixture
def gpu_state(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module anew, since it keeps the library it found: one whose GPUs are as warm as their number."""
    library = SimpleNamespace(
        nvmlInit=lambda: None,
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
    monkeypatch.setitem(sys.modules, "pynvml", library)
    spec = importlib.util.find_spec("grader.referee.timing.gpu_state")
    assert spec and spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.mark.parametrize(
    ("visible", "celsius"), [(None, 40), ("", 40), ("1", 41), ("3, 1", 43), ("GPU-ab", 47)]
)
def test_the_state_is_that_of_the_first_visible_gpu(
    gpu_state: Any, monkeypatch: pytest.MonkeyPatch, visible: str | None, celsius: int
) -> None:
    if visible is None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    else:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    state = gpu_state.state()
    assert state and state.celsius == celsius and state.name == "NVIDIA T"
    assert state.throttled == (["thermal limit (software)"] if celsius > 40 else [])


def test_a_library_that_does_not_answer_is_no_trouble(
    gpu_state: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-unknown")
    assert gpu_state.state() is None
