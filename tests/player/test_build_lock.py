"""A build that was killed holds nobody up: through torch's own ``load``, which asks ninja and a compiler."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

LOAD = """
import os, sys
os.environ |= {"CUDA_VISIBLE_DEVICES": "", "TORCH_CUDA_ARCH_LIST": "9.0"}  # as where a batch builds ahead
import torch.utils.cpp_extension as extension
from grader.player.gpu_device import Cuda

class Channel:
    def send(self, message):
        pass
    def receive(self):
        return {"ordinary": "a test"}

Cuda(Channel())
extension.load("counted", [sys.argv[1]], build_directory=sys.argv[2], is_python_module=False)
print("loaded")
"""
COMPILER = """#!/bin/sh
case "$*" in *" -c "*) echo x >> {folder}/compilations; {first} ;; esac
exec g++ "$@"
"""
PATIENCE = 60.0


class Builders:
    """Processes that all want one extension."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.started = folder, list[subprocess.Popen[str]]()
        (folder / "build").mkdir()
        (folder / "counted.cpp").write_text('extern "C" int counted() { return 1; }\n')

    def start(self, first: str = ":") -> subprocess.Popen[str]:
        """One more; its compiler does ``first`` first."""
        compiler = self.folder / "compiler"
        compiler.write_text(COMPILER.format(folder=self.folder, first=first))
        compiler.chmod(0o755)
        command = [sys.executable, "-c", LOAD, str(self.folder / "counted.cpp"), str(self.folder / "build")]
        self.started.append(
            subprocess.Popen(
                command, env={**os.environ, "CXX": str(compiler)}, text=True, start_new_session=True,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )
        )  # fmt: skip
        return self.started[-1]

    def compilations(self) -> int:
        """How often a compiler was at work."""
        path = self.folder / "compilations"
        return len(path.read_text().split()) if path.exists() else 0


@pytest.fixture
def builders(tmp_path: Path) -> Builders:
    if not shutil.which("g++"):
        pytest.skip("needs g++")
    return Builders(tmp_path)


def said(one: subprocess.Popen[str]) -> str:
    """Its last word, and what it complained of."""
    out, err = one.communicate(timeout=PATIENCE)
    return (out.split() or [err[-500:]])[-1]


@pytest.mark.thorough
@pytest.mark.slow
def test_who_comes_after_a_build_that_was_killed_does_not_wait_for_it(builders: Builders) -> None:
    killed = builders.start("sleep 600")
    end = time.monotonic() + PATIENCE
    while not builders.compilations() and time.monotonic() < end:
        time.sleep(0.05)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    (builders.folder / "build" / "lock").touch()  # as torch's own baton would have left it
    assert builders.compilations() == 1
    assert said(builders.start()) == "loaded"


@pytest.mark.slow
def test_two_at_once_compile_once(builders: Builders) -> None:
    both = [builders.start("sleep 2") for _ in range(2)]
    assert [said(one) for one in both] == ["loaded", "loaded"]
    assert builders.compilations() == 1
