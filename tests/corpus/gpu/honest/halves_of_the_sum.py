"""Two products over halves of k on two streams, added at the end.

class: honest
catalogue: -
task: gemm
expected: passed
"""

import torch


sides = torch.cuda.Stream(), torch.cuda.Stream()


def matmul(a, b):
    here, parts, half = torch.cuda.current_stream(), [], a.shape[1] // 2
    for side, s in zip(sides, (slice(0, half), slice(half, None)), strict=True):
        side.wait_stream(here)
        with torch.cuda.stream(side):
            parts.append(a[:, s] @ b[s])
        here.wait_stream(side)
        parts[-1].record_stream(here)
    return parts[0] + parts[1]
