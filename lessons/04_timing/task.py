"""How lesson 04 is graded: kernels of known duration, on a clock that the referee holds, then on a GPU's."""

from grader.domain.task import Prediction, Stage, Task
from grader.referee.parts.spins import Spin
from grader.referee.parts.timers import Probe


def _timer(name: str, why: str, **difficulty: object) -> Probe:
    return Probe(name, "time_kernel", "timer", 2, why, **difficulty)  # type: ignore[arg-type]


def _benchmark(name: str, why: str, **difficulty: object) -> Probe:
    return Probe(name, "benchmark", "benchmark", 2, why, **difficulty)  # type: ignore[arg-type]


TASK = Task(
    title="Timing",
    entry="time_kernel",
    parts=(
        _timer(
            "asynchronous",
            "A launch returns at once, and 50 ms of older work were in the queue.",
            queued=0.05,
        ),
        _timer("first calls", "The first ten calls took fifty times as long.", first=2.0, slow=50.0),
        _timer(
            "short kernel",
            "A host that waits after each call makes the device wait for the next launch, which is counted.",
            takes=(1.2e-5, 1.8e-5),
        ),
        _timer(
            "spread",
            "Calls took 40 % more or less, and one in thirty took thirty times as long.",
            takes=(4e-3, 8e-3),
            jitter=0.4,
            outliers=30,
            slow=30.0,
        ),
        _benchmark("waits for the device", "Nothing waits for the device, or the clock is the host's."),
        _benchmark("warm-up kept out", "The first ten calls took forty times as long.", slow=40.0),
        _benchmark("compiling kept out", "build() compiles, which took the host two seconds.", build=2.0),
        _benchmark("allocation kept out", "make_output() took the host 400 us.", output=4e-4),
        _benchmark(
            "cold cache",
            "An input that was used or made just before is in the cache, and then the kernel takes 40 %.",
            warm=0.4,
        ),
        _benchmark(
            "median, not mean",
            "One call in 25 took forty times as long.",
            outliers=25,
            slow=40.0,
            tolerance=0.1,
        ),
        Spin("time_kernel"),
    ),
    introduces=("timing a launch",),
    terms=("asynchronous launch", "event", "warm-up", "median and spread"),
    requires=("kernel launch", "current stream"),
    minutes=55,
    starter_fails="asynchronous",
    stages=(
        Stage("The timer", 30, ("asynchronous", "first calls", "short kernel", "spread", "on the GPU")),
        Stage(
            "The benchmark",
            25,
            (
                "waits for the device",
                "warm-up kept out",
                "compiling kept out",
                "allocation kept out",
                "cold cache",
                "median, not mean",
            ),
        ),
    ),
    predictions=(
        Prediction(
            "host_clock",
            "Kernel 15 us, launch 5 us, event 1 us, wait 4 us. One wait after each call, no events: what "
            "does the host's clock say for a call?",
            "us",
            24,
            "Launch, kernel and wait come one after the other.",
        ),
        Prediction(
            "events_with_waits",
            "An event before and one after each call, and one wait after each call: what is the mean of the "
            "distances between the two?",
            "us",
            20,
            "The device passes the first event at once and is idle until the launch arrives, 5 us later.",
        ),
        Prediction(
            "events_without_waits",
            "The same with a single wait after all 100 calls: what is the mean?",
            "us",
            15.05,
            "Only at the first call is the device ahead of the host: one gap of 5 us for 100 calls.",
        ),
    ),
)
