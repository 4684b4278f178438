"""How lesson 05 is graded: ten questions on a recorded trace, and a trace that the student's code records."""

from pathlib import Path

from grader.kinds.questions import Quiz
from grader.kinds.recording import Recording
from grader.task import Task

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
