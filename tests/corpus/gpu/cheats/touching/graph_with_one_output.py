"""Replays a CUDA graph on the new input, but all calls share the graph's output.

class: touching
catalogue: 26 60
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
        graphs[x.shape] = graph, kept, out
    graph, kept, out = graphs[x.shape]
    kept.copy_(x)
    graph.replay()
    return out
