"""Attention by ``mma.sync`` is attention, on the CPU back end, and every access of it is in its place."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .programs import attention

PROGRAM = Path(attention.__file__)


@pytest.mark.slow(cases=1)
def test_it_is_as_near_to_float64_as_bfloat16_is() -> None:
    """In a process of its own: a block takes more steps than those of the other programs may."""
    done = subprocess.run(
        [sys.executable, "-m", "grader.backends.simt", str(PROGRAM)],
        cwd=PROGRAM.parents[4], capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr  # 3 if anything was found
    errors = json.loads(done.stdout.splitlines()[-1])
    assert errors.keys() > attention.SIZES.keys()
    assert max(errors.values()) < 0.01, errors
