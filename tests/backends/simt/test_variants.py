"""The unchecked build gives the checked one's results, and can never stand in for it unnoticed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import PROGRAMS

ROOT = Path(__file__).resolve().parents[3]


def run(*options: str, cores: str = "2") -> str:
    done = subprocess.run(
        [sys.executable, "-m", "grader.backends.simt", *options, str(PROGRAMS / "variants.py")],
        cwd=ROOT, capture_output=True, text=True, timeout=300, env=os.environ | {"SIMT_CORES": cores},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def checked() -> str:
    return run()


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize("cores", ["1", "3"])
def test_both_builds_give_the_same_bits(checked: str, cores: str) -> None:
    assert len(checked.splitlines()) == 7
    assert run("--fast", cores=cores) == checked


@pytest.mark.thorough
@pytest.mark.slow
def test_a_fast_module_does_not_run_under_checks() -> None:
    program = f"""
import runpy
from grader.backends.simt.compile import compiler as builder
from grader.backends.simt.runtime.device import activate
activate(lambda r: str(builder.build(r, variant="fast").path), builder.libraries())
try:
    runpy.run_path({str(PROGRAMS / "variants.py")!r}, run_name="__main__")
except RuntimeError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert "polynomial: checks or counts are on, but the module was compiled without them" in done.stdout
