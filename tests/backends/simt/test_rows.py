"""``solutions/15_softmax/rows.py`` on the CPU back end: right, and every access of it is in its place and in order."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .programs import rows

PROGRAM = Path(rows.__file__)
CLOSE = {"float32": 5e-7, "bfloat16": 0.004}  # half a unit in the last place of bfloat16 is a 512th


@pytest.mark.slow(cases=1)
def test_it_is_as_near_to_float64_as_its_dtype_is() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "grader.backends.simt", str(PROGRAM)],
        cwd=PROGRAM.parents[4], capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr  # 3 if anything was found
    errors = json.loads(done.stdout.splitlines()[-1])
    for dtype, found in errors.items():
        assert len(found) == len(rows.SIZES[getattr(rows.torch, dtype)])
        for size, each in found.items():
            assert max(each.values()) < CLOSE[dtype], (dtype, size, each)
