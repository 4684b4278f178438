"""PyTorch's own operators on the CPU back end: those that a GPU has and a CPU has not."""

from __future__ import annotations

import re

import pytest

from .conftest import PROGRAMS, Play

TEXT = (PROGRAMS / "operators.py").read_text()
CASES = re.findall(r'^    "(\w+)": \(nn\.', TEXT, re.M) + re.findall(r"^def case_(\w+)", TEXT, re.M)


@pytest.mark.slow(cases=1000)
@pytest.mark.parametrize("case", CASES)
def test_it_gives_what_the_cpu_gives(play: Play, case: str) -> None:
    answer = play("operators")[case]
    assert answer["error"] == ""
    assert answer["findings"] == []
