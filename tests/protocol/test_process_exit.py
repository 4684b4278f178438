"""A process ends with its code, after all that should still happen, and without a crash."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

PROGRAM = """
import atexit, sys, threading, time

from grader.protocol.process_exit import leave


class Kept:
    def __del__(self):
        print("finalized")


kept = Kept()
atexit.register(print, "handler")
threading.Thread(target=lambda: (time.sleep(0.2), print("thread"))).start()
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
sys.stdout.write("unflushed ")
leave({code})
"""

BACKWARD = """
import atexit
import torch

atexit.register(print, "handler")
x = torch.randn(4, 64, device="cuda", requires_grad=True)
torch.softmax(x, 1).sum().backward()
print(x.grad.shape)
"""


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run(
        command, cwd=ROOT, env=buffered, capture_output=True, text=True, timeout=300, check=False
    )


def test_threads_handlers_and_output_come_first_and_the_interpreter_is_not_finalized() -> None:
    done = _run(sys.executable, "-c", PROGRAM.format(code=7))
    assert (done.returncode, done.stdout, done.stderr) == (7, "unflushed thread\nhandler\n", "")


POOL = """
import sys
from concurrent.futures import ThreadPoolExecutor

from grader.protocol.process_exit import leave

sys.kept = pool = ThreadPoolExecutor(2)
print(pool.submit(int, "3").result())
leave(0)
"""


def test_a_pool_of_threads_that_nobody_shut_down_keeps_no_process() -> None:
    """Its threads wait for work for ever; the interpreter ends them, too."""
    done = _run(sys.executable, "-c", POOL)
    assert (done.returncode, done.stdout, done.stderr) == (0, "3\n", "")


def test_output_that_cannot_be_written_is_a_failure() -> None:
    done = _run("bash", "-c", f"{sys.executable} -c '{PROGRAM.format(code=0)}' >/dev/full")
    assert done.returncode == 120


@pytest.mark.thorough
@pytest.mark.slow
def test_a_program_that_ends_with_a_backward_pass_ends_well(tmp_path: Path) -> None:
    """Without ``leave`` the device's autograd thread aborts some of these; see its docstring."""
    file = tmp_path / "backward.py"
    file.write_text(BACKWARD)
    for _ in range(3):
        done = _run(sys.executable, "-m", "grader.backends.simt", str(file))
        assert (done.returncode, done.stdout) == (0, "torch.Size([4, 64])\nhandler\n"), done.stderr
