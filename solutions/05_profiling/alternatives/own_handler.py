"""Answers of another student; the trace is written by a handler of its own, and is started and stopped by hand."""

import torch
from torch import profiler

STUDENT = "Grace Hopper"
ANSWERS = {"kernels": 4 * 8, "in_region": 3, "longest": 2695.6, "last": 16.2, "host": 138, "delay": 479}
ANSWERS |= {"rest": 1.486, "idle": 2.438, "copy": 8192 * 1024 * 4 / 607.0 / 1000, "threads": 2**20}


def record(model, batch, steps, path):
    def write(seen):
        seen.export_chrome_trace(path)

    plan = profiler.schedule(wait=1, warmup=2, active=steps)
    watch = profiler.profile(schedule=plan, on_trace_ready=write, record_shapes=True)
    watch.start()
    for _ in range(steps + 3):
        with profiler.record_function("forward"), torch.no_grad():
            model(batch)
        watch.step()
    watch.stop()


def mine():
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    return layer, torch.randn(2, 5, 16)
