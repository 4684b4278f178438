"""Lesson 05: answers read from a recorded trace, and a recording of one's own."""

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

# `./course run 05` prints your ten questions about data/trace.json.gz, once your name is here.
STUDENT = ""  # TODO 1: your name or number; everybody has questions of their own

# Numbers without their unit; two percent off is right.
ANSWERS = {
    # TODO 2: open the trace in Perfetto, or read it with json and gzip. Counts and durations:
    "kernels": None,
    "in_region": None,
    "longest": None,
    "last": None,
    "host": None,
    # TODO 3: a delay, two shares, a rate, and the threads of a grid:
    "delay": None,
    "rest": None,
    "idle": None,
    "copy": None,
    "threads": None,
}


def record(model, batch, steps, path):
    """Write a Chrome trace of `steps` calls of the model to `path`, each in a region called "forward"."""
    # TODO 4: one step to wait, two to warm up, then `steps`; the trace is written at their end.
    # TODO 5: a region called "forward" around the call, and the shapes of the inputs.
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):
        model(batch)


def mine():
    """A model of your own with two layers or more, and a batch for it; `record` is tried on it as well."""
    # TODO 6: any model that interests you, small enough to run on a laptop.
    return None, None


if __name__ == "__main__":
    from grader.domain.lessons import find
    from grader.referee.parts.questions import sheet

    print(sheet(find("05").folder / "data" / "trace.json.gz", STUDENT))
