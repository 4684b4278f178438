"""Lesson 05: answers read from a recorded trace, and a recording of one's own."""

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

# `./course run 05` prints your ten questions about data/trace.json.gz, once your name is here.
# solution: begin
STUDENT = "Ada"
# solution: end
# starter: STUDENT = ""  # TODO 1: your name or number; everybody has questions of their own

# Numbers without their unit; two percent off is right.
ANSWERS = {
    # solution: begin
    "kernels": 24,
    "in_region": 2,
    "longest": 2695.6,
    "last": 15.84,
    "host": 216.7,
    "delay": 479.1,
    "rest": 1.47,
    "idle": 2.438,
    "copy": 55.2,
    "threads": 2097152,
    # solution: end
    # starter: # TODO 2: open the trace in Perfetto, or read it with json and gzip. Counts and durations:
    # starter: "kernels": None,
    # starter: "in_region": None,
    # starter: "longest": None,
    # starter: "last": None,
    # starter: "host": None,
    # starter: # TODO 3: a delay, two shares, a rate, and the threads of a grid:
    # starter: "delay": None,
    # starter: "rest": None,
    # starter: "idle": None,
    # starter: "copy": None,
    # starter: "threads": None,
}


# region: record
def record(model, batch, steps, path):
    """Write a Chrome trace of `steps` calls of the model to `path`, each in a region called "forward"."""
    # solution: begin
    with profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
        schedule=schedule(wait=1, warmup=2, active=steps, repeat=1),
        record_shapes=True,
        on_trace_ready=lambda profiler: profiler.export_chrome_trace(path),
    ) as profiler:
        for _ in range(1 + 2 + steps):
            with record_function("forward"):
                model(batch)
            profiler.step()
    # solution: end
    # starter: # TODO 4: one step to wait, two to warm up, then `steps`; the trace is written at their end.
    # starter: # TODO 5: a region called "forward" around the call, and the shapes of the inputs.
    # starter: with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):
    # starter:     model(batch)


# endregion


# region: mine
def mine():
    """A model of your own with two layers or more, and a batch for it; `record` is tried on it as well."""
    # solution: begin
    layers = torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 36, 10)
    return torch.nn.Sequential(*layers), torch.randn(4, 3, 8, 8)
    # solution: end
    # starter: # TODO 6: any model that interests you, small enough to run on a laptop.
    # starter: return None, None


# endregion

if __name__ == "__main__":
    from grader.domain.lessons import find
    from grader.referee.parts.questions import sheet

    print(sheet(find("05").folder / "data" / "trace.json.gz", STUDENT))
