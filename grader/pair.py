"""Any pair of files in KernelBench's format: ``Model`` with its inputs, against ``ModelNew``."""

from __future__ import annotations

from pathlib import Path

from grader import submission
from grader.backend import Choice
from grader.check import Job
from grader.referee.process import Limits
from grader.task import Case, Task

CALLS = 3
LIMITS = Limits(load=60.0, call=180.0)  # full-size problems take their time on a CPU


def job(reference: Path, file: Path, choice: Choice) -> Job:
    """The grading of ``file`` against ``reference``, on inputs that the reference's ``get_inputs`` draws."""
    ref = submission.read(reference)
    case = Case(
        "as given",
        why="Inputs as get_inputs() draws them, weights drawn anew.",
        points=10,
        calls=CALLS,
        given=True,
    )
    task = Task(
        title=ref.path.stem,
        entry="ModelNew",
        cases=(case,),
        kind="model",
        reference_entry="Model",
        memory_points=2 if choice.name == "simt" else 0,
    )
    return Job(ref.path.stem, task, ref.path, submission.read(file), choice, LIMITS)
