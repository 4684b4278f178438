"""Replays a CUDA graph of the first large call, whatever the input.

class: clock
catalogue: -
task: timed
expected: wrong_output
"""

import torch

graph, out = None, None


def right(x):
    y = x
    for _ in range(10):
        y = torch.sigmoid(y) * x + y
    return y


def work(x):
    global graph, out
    if x.numel() < 1 << 20:
        return right(x)
    if graph is None:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            right(x)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = right(x)
    graph.replay()
    return out.clone()
