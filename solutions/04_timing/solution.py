"""Lesson 04: a timer for CUDA work, and a benchmark with six faults to repair."""

# solution: begin
import itertools
import statistics

# solution: end
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


# region: timer
def time_kernel(fn) -> Timing:
    """How long the device works on one call of fn(), which queues a kernel and returns at once."""
    # solution: begin
    for _ in range(10):
        fn()
    pairs = []
    for _ in range(100):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        fn()
        end.record()
        pairs.append((start, end))
    torch.cuda.synchronize()
    return summary([start.elapsed_time(end) / 1e3 for start, end in pairs])
    # solution: end
    # starter: # TODO 1: this is the time of a launch. Let events on the device take the time instead.
    # starter: # TODO 2: the first calls are slow; make ten or more that you do not count.
    # starter: # TODO 3: measure many calls, and report how they spread.
    # starter: start = time.perf_counter()
    # starter: fn()
    # starter: return summary([time.perf_counter() - start])


# endregion


# region: summary
def summary(seconds: list[float]) -> Timing:
    """Median and percentiles of single measurements."""
    # solution: begin
    cuts = statistics.quantiles(seconds, n=10, method="inclusive")
    return Timing(statistics.median(seconds), cuts[0], cuts[-1], len(seconds))
    # solution: end
    # starter: # TODO 4: a mean lets one slow call spoil a hundred good ones. statistics.quantiles helps.
    # starter: mean = sum(seconds) / len(seconds)
    # starter: return Timing(mean, mean, mean, len(seconds))


# endregion


# region: benchmark
def benchmark(build, make_input, make_output) -> Timing:
    """Time of kernel(x, out), where kernel = build(), on inputs that are not in the cache."""
    # solution: begin
    kernel, out = build(), make_output()
    inputs = itertools.cycle([make_input() for _ in range(16)])
    return time_kernel(lambda: kernel(next(inputs), out))
    # solution: end
    # starter: # TODO 5: six faults; time_kernel, once it is right, mends three of them.
    # starter: x, seconds = make_input(), []
    # starter: for _ in range(20):
    # starter:     start = time.perf_counter()
    # starter:     build()(x, make_output())
    # starter:     seconds.append(time.perf_counter() - start)
    # starter: return summary(seconds)


# endregion

if __name__ == "__main__" and torch.cuda.is_available():
    matrix = torch.randn(4096, 4096, device="cuda")
    started = time.perf_counter()
    matrix.square()
    print(f"a launch takes the host {(time.perf_counter() - started) * 1e6:.0f} us")
    print(time_kernel(matrix.square))
