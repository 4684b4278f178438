"""The table of ``course list``."""

import io

import pytest
from rich.console import Console

from grader.backends import detect
from grader.domain import lessons
from grader.student import progress
from grader.student.loop import guide


@pytest.mark.parametrize(("gpu", "machine"), [("", "a GPU"), ("NVIDIA H200", "the CPU back end")])
def test_points_that_are_left_of_a_passed_lesson_wait_for_the_other_machine(
    gpu: str, machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detect, "gpu_name", lambda: gpu)
    done = progress.parse("07_fused_bias_relu passed 18/20  tries 1  hints 0  2026-01-01 10:00\n")
    out = io.StringIO()
    Console(file=out, width=120).print(guide.table([lessons.find("07")], done))
    assert f"18 + 2 for {machine}" in out.getvalue()
