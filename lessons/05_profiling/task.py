"""How lesson 05 is graded: ten questions on a recorded trace, and a trace that the student's code records."""

from pathlib import Path

from grader.domain.task import Prediction, Stage, Task
from grader.referee.parts.questions import Quiz
from grader.referee.parts.recording import Recording

TASK = Task(
    title="Profiling",
    entry="record",
    parts=(Quiz(str(Path(__file__).parent / "data" / "trace.json.gz")), Recording()),
    introduces=("trace",),
    terms=("eager", "profiler schedule", "Chrome trace", "annotated region", "idle time"),
    requires=("kernel launch", "asynchronous launch", "event", "warm-up"),
    minutes=75,
    starter_fails="kernels",
    stages=(
        Stage(
            "Counts and durations",
            35,
            ("kernels", "in_region", "longest", "last", "host"),
        ),
        Stage(
            "Delays and shares",
            20,
            ("delay", "rest", "idle", "copy", "threads"),
        ),
        Stage(
            "A recording",
            20,
            ("trace written", "schedule", "regions", "shapes", "own model", "kernels on the GPU"),
        ),
    ),
    predictions=(
        Prediction(
            "eager_kernels",
            "How many kernels does relu(x @ weight.T + bias) run, as PyTorch runs it?",
            "kernels",
            3,
            "One for each operator: the product, the bias, the ReLU.",
        ),
        Prediction(
            "product_share",
            "How many percent of its kernel time does the product take?",
            "%",
            98.5,
            "Counted from the trace of the lesson, first step: 2700 of 2740 us.",
        ),
        Prediction(
            "device_over_host",
            "How many times as long as the host is the device busy with it?",
            "times",
            11.7,
            "The host only queues: 0.9 ms in four steps, and the device then works for 10.9 ms.",
        ),
    ),
)
