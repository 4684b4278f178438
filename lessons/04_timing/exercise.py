"""Lesson 04: a timer for CUDA work, and a benchmark with six faults to repair."""

import time
from dataclasses import dataclass

import torch


@dataclass
class Timing:
    """What a kernel takes, in seconds: median, and the 10th and 90th percentile of n single calls."""

    median: float
    p10: float
    p90: float
    n: int


def time_kernel(fn) -> Timing:
    """How long the device works on one call of fn(), which queues a kernel and returns at once."""
    # TODO 1: this is the time of a launch. Let events on the device take the time instead.
    # TODO 2: the first calls are slow; make ten or more that you do not count.
    # TODO 3: measure many calls, and report how they spread.
    start = time.perf_counter()
    fn()
    return summary([time.perf_counter() - start])


def summary(seconds: list[float]) -> Timing:
    """Median and percentiles of single measurements."""
    # TODO 4: a mean lets one slow call spoil a hundred good ones. statistics.quantiles helps.
    mean = sum(seconds) / len(seconds)
    return Timing(mean, mean, mean, len(seconds))


def benchmark(build, make_input, make_output) -> Timing:
    """Time of kernel(x, out), where kernel = build(), on inputs that are not in the cache."""
    # TODO 5: six faults; time_kernel, once it is right, mends three of them.
    x, seconds = make_input(), []
    for _ in range(20):
        start = time.perf_counter()
        build()(x, make_output())
        seconds.append(time.perf_counter() - start)
    return summary(seconds)


if __name__ == "__main__" and torch.cuda.is_available():
    matrix = torch.randn(4096, 4096, device="cuda")
    started = time.perf_counter()
    matrix.square()
    print(f"a launch takes the host {(time.perf_counter() - started) * 1e6:.0f} us")
    print(time_kernel(matrix.square))
