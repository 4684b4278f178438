"""The GPU's state while it is timed, by NVML: clocks, temperature, and why it runs slower than it could."""

from __future__ import annotations

import functools
import importlib
import os
from dataclasses import asdict, dataclass
from typing import Any

from grader.domain.speed import Machine

REASONS = {
    0x4: "power cap", 0x8: "hardware slowdown", 0x20: "thermal limit (software)",
    0x40: "thermal limit (hardware)", 0x80: "power brake",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class GpuState:
    """One look at the GPU: ``throttled`` says why it runs slower than it could."""

    name: str
    driver: str
    sm_mhz: int
    memory_mhz: int
    celsius: int
    throttled: list[str]


def state() -> GpuState | None:
    """The GPU's state now; None without NVML."""
    nvml = _nvml()
    if nvml is None:
        return None
    try:
        gpu = _first(nvml)
        mask = nvml.nvmlDeviceGetCurrentClocksThrottleReasons(gpu)
        return GpuState(
            name=_text(nvml.nvmlDeviceGetName(gpu)),
            driver=_text(nvml.nvmlSystemGetDriverVersion()),
            sm_mhz=nvml.nvmlDeviceGetClockInfo(gpu, nvml.NVML_CLOCK_SM),
            memory_mhz=nvml.nvmlDeviceGetClockInfo(gpu, nvml.NVML_CLOCK_MEM),
            celsius=nvml.nvmlDeviceGetTemperature(gpu, nvml.NVML_TEMPERATURE_GPU),
            throttled=[why for bit, why in REASONS.items() if mask & bit],
        )
    except Exception:  # a card or driver that does not answer one of these is timed all the same
        return None


def state_json() -> dict[str, object]:
    """The state for a file of measurements; {} without NVML."""
    found = state()
    return asdict(found) if found else {}


def _first(nvml: Any) -> Any:
    """The GPU that CUDA calls 0: of several, ``CUDA_VISIBLE_DEVICES`` names ours, by number or UUID."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0].strip()
    if named and not named.isdigit():
        return nvml.nvmlDeviceGetHandleByUUID(named)
    return nvml.nvmlDeviceGetHandleByIndex(int(named or 0))


@functools.cache
def _nvml() -> Any:
    """The library, started once for all of this process: starting it takes longer than asking."""
    try:
        nvml = importlib.import_module("pynvml")
        nvml.nvmlInit()
    except Exception:
        return None
    return nvml


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def ranges(samples: list[GpuState | None]) -> Machine:
    """Several states as one: the range of clocks and temperatures, and every reason that was seen."""
    seen = [s for s in samples if s]
    if not seen:
        return Machine()

    def ends(values: list[int]) -> list[int]:
        return [min(values), max(values)]

    return Machine(
        name=seen[0].name,
        driver=seen[0].driver,
        throttled=sorted({why for s in seen for why in s.throttled}),
        sm_mhz=ends([s.sm_mhz for s in seen]),
        memory_mhz=ends([s.memory_mhz for s in seen]),
        celsius=ends([s.celsius for s in seen]),
    )
