"""Answers of a third student; a longer warm-up, and the region is a decorator."""

import torch
from torch.profiler import profile, record_function, schedule

STUDENT = "23-117"
ANSWERS = {
    "kernels": 8,
    "in_region": 2,
    "longest": 2690,
    "last": 15.8,
    "host": 137.7,
    "delay": 479.0,
    "rest": 0.57,
    "idle": 1.81,
    "copy": 55,
    "threads": 1024 * 1024,
}


@record_function("forward")
def forward(model, batch):
    return model(batch)


def record(model, batch, steps, path):
    plan = schedule(skip_first=2, wait=0, warmup=4, active=steps, repeat=1)
    with profile(
        schedule=plan, record_shapes=True, on_trace_ready=lambda p: p.export_chrome_trace(path)
    ) as p:
        for _ in range(6 + steps):
            forward(model, batch)
            p.step()


class Gate(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.value, self.gate = torch.nn.Linear(12, 12), torch.nn.Linear(12, 12)

    def forward(self, x):
        return self.value(x) * torch.sigmoid(self.gate(x))


def mine():
    return Gate(), torch.randn(7, 12)
