"""Correct programs run, give the right results, and no check has anything to say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .conftest import PROGRAMS, Play

CASES = re.findall(r"^def case_(\w+)", (PROGRAMS / "features.py").read_text(), re.M)


@pytest.mark.slow(cases=1000)
@pytest.mark.parametrize("case", CASES)
def test_a_correct_program_runs_and_nothing_is_found(play: Play, case: str) -> None:
    answer = play("features")[case]
    assert answer["error"] == ""
    assert answer["findings"] == []


@pytest.mark.slow
def test_launches_are_listed(play: Play) -> None:
    (launch,) = play("features")["float4"]["launches"]
    assert launch["kernel"] == "scale4_kernel"
    assert (launch["grid"], launch["block"]) == ([4, 1, 1], [256, 1, 1])
    assert Path(launch["file"]).name == "features.cu"
