"""A timer on a real device is judged by the referee's own clock; here device and clock are played."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from grader.domain.verdict import Status
from grader.player.commands import COMMANDS
from grader.referee.parts import spins

HZ = 1.98e9


def judged(monkeypatch: pytest.MonkeyPatch, says: float, backend: str = "cuda") -> Any:
    """The finding on a timer that answers ``says`` times the truth, on a device of HZ cycles a second."""
    now = [0.0]
    monkeypatch.setattr(spins.time, "monotonic", lambda: now[0])

    def command(name: str, entry: str, cycles: int) -> dict[str, Any]:
        assert name in COMMANDS
        now[0] += 1e-3 + cycles / HZ
        right = says * cycles / HZ
        return {"value": {"median": right, "p10": right, "p90": right, "n": 100}} if entry else {}

    session = SimpleNamespace(backend=backend, rng=np.random.default_rng(0), command=command)
    (finding,) = spins.Spin("time_kernel").judge(session)  # type: ignore[arg-type]
    return finding


def test_a_timer_that_agrees_with_the_device_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    finding = judged(monkeypatch, 1.02)
    assert finding.status is Status.PASSED and " for " in finding.message


@pytest.mark.parametrize("says", [0.5, 1.5, 1e-3])
def test_one_that_does_not_fails(monkeypatch: pytest.MonkeyPatch, says: float) -> None:
    finding = judged(monkeypatch, says)
    assert finding.status is Status.WRONG_ANSWER and "but the kernel spins for" in finding.message


def test_without_a_gpu_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    assert judged(monkeypatch, 1.0, "simt").status is Status.PENDING_GPU
