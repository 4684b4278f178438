"""PyTorch around the kernels: what it offers on a GPU is there, or refused in a sentence."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from .conftest import HERE, PROGRAMS, Play

CASES = re.findall(r"^def case_(\w+)", (PROGRAMS / "torch_side.py").read_text(), re.M)
WAITING = """
import sys
from grader.backends.simt.compile import compiler as builder
from grader.backends.simt.runtime.device import activate
runtime = activate(lambda r: "", builder.libraries(), checked={checked})
import torch
x = torch.arange(1000.0, device="cuda")
print((x * 2).sum().item())
"""

BLOCKING = """
from tests.backends.simt.player import _build, builder
from grader.backends.simt.runtime.device import activate
runtime = activate(_build, builder.libraries())
import runpy
cases = runpy.run_path("tests/backends/simt/programs/torch_side.py")["cases"]()
print(cases["a_launch_waits_in_the_queue"](runtime))
"""


@pytest.mark.slow(cases=1000)
@pytest.mark.parametrize("case", CASES)
def test_it_works_and_nothing_is_found(play: Play, case: str) -> None:
    answer = play("torch_side")[case]
    assert answer["error"] == ""
    assert answer["findings"] == []


@pytest.mark.slow
def test_the_profiler_shows_launched_kernels(play: Play) -> None:
    result = play("torch_side")["profiler"]["result"]
    assert result["kernels"] == {"scale4_kernel": 2}
    assert result["in the trace"] == 2


@pytest.mark.slow
def test_a_launch_is_queued_until_somebody_waits(play: Play) -> None:
    assert play("torch_side")["a_launch_waits_in_the_queue"]["result"] == {"idle": [1, 0, 1]}


@pytest.mark.slow
def test_asking_whether_it_is_done_lets_it_go_on(play: Play) -> None:
    first, _ = play("torch_side")["a_stream_waits_for_its_work"]["result"]["queried"]
    assert first is False


@pytest.mark.thorough
@pytest.mark.slow
def test_a_blocking_launch_does_not_wait_in_the_queue() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BLOCKING], cwd=HERE.parents[2], capture_output=True, text=True, timeout=300,
        check=False, env=os.environ | {"OMP_NUM_THREADS": "1", "CUDA_LAUNCH_BLOCKING": "1"},
    )  # fmt: skip
    assert done.stdout.strip() == "{'idle': [1, 1, 1]}", done.stderr[-800:]


def _run(limit: str, checked: bool = True) -> subprocess.CompletedProcess[str]:
    code = WAITING.format(checked=checked)
    return subprocess.run(
        ["bash", "-c", f'{limit} exec "$0" -c "$1"', sys.executable, code],
        cwd=HERE.parents[2], capture_output=True, text=True, timeout=300, check=False,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["ulimit -v 12000000;", "ulimit -d 2500000;"])
def test_little_memory_is_enough(limit: str) -> None:
    """The arena shrinks to what ``ulimit -v`` leaves.

    ``ulimit -d`` counts what may be written, used or not, as a system does that promises no more than it has.
    """
    done = _run(limit)
    assert (done.returncode, done.stdout.strip()) == (0, "999000.0"), done.stderr[-800:]
