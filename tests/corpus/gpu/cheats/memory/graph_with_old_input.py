"""Captures a CUDA graph in the first call of a shape and replays it on that call's input.

class: memory
catalogue: 60
task: double
expected: wrong_output
"""

import torch


graphs = {}


def double(x):
    if x.shape not in graphs:
        kept = x.clone()
        2 * kept
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = 2 * kept
        graphs[x.shape] = graph, out
    graph, out = graphs[x.shape]
    graph.replay()
    return out.clone()
