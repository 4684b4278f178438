"""How lesson 05 is graded: ten questions on a recorded trace, and a trace that the student's code records."""

from pathlib import Path

from grader.domain.task import Task
from grader.referee.parts.questions import Quiz
from grader.referee.parts.recording import Recording

TASK = Task(
    title="Profiling",
    entry="record",
    parts=(Quiz(str(Path(__file__).parent / "data" / "trace.json.gz")), Recording()),
    introduces=("trace",),
    terms=("profiler schedule", "Chrome trace", "annotated region", "idle time"),
    requires=("kernel launch", "asynchronous launch", "event", "warm-up"),
    minutes=45,
    starter_fails="kernels",
)
