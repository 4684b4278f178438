"""A kernel on the virtual clock takes what a real one takes."""

from pathlib import Path

import pytest

from grader.domain.lessons import find
from grader.domain.verdict import Status
from tests.referee.parts.asking import grade

CALL = "kernel(next(inputs), out)"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("kernel(next(inputs))", "kernel() missing 1 required positional argument: 'out'"),
        ("kernel()", "kernel() missing 2 required positional arguments: 'x' and 'out'"),
        ("kernel(out, next(inputs))", "x must be what make_input() gives, and it is an output"),
        ("kernel(next(inputs), None)", "out must be what make_output() gives, and it is a NoneType"),
    ],
)
def test_a_benchmark_must_hand_its_kernel_input_and_output(call: str, says: str, tmp_path: Path) -> None:
    lesson = find("04")
    text = lesson.solution.read_text("utf-8")
    assert text.count(CALL) == 1
    probe = next(p for p in lesson.task.parts if p.checks[0].name == "waits for the device")
    (finding,) = (
        f
        for f in grade(tmp_path, text.replace(CALL, call), probe, entry="time_kernel").findings
        if f.id != "load"
    )
    assert finding.status is Status.RAISED and says in finding.message


@pytest.mark.slow
def test_a_keyword_that_an_event_does_not_have_is_refused(tmp_path: Path) -> None:
    lesson = find("04")
    text = lesson.solution.read_text("utf-8").replace(
        "Event(enable_timing=True)", "Event(enabled_timing=True)"
    )
    probe = next(p for p in lesson.task.parts if p.checks[0].name == "asynchronous")
    (finding,) = (f for f in grade(tmp_path, text, probe, entry="time_kernel").findings if f.id != "load")
    assert (
        finding.status is Status.RAISED and "unexpected keyword argument 'enabled_timing'" in finding.message
    )
