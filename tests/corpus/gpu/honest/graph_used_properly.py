"""A CUDA graph with its input copied in and its output copied out.

class: honest
catalogue: -
task: double
expected: passed
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
    return out.clone()
