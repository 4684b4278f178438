"""Lesson 04's sibling: events as marks between the parts of one step, to see where its time goes."""

import itertools

import torch


# region: parts
def milliseconds(**parts):
    """How long the device takes for each part of a step, by name; the parts run in their order."""
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(len(parts) + 1)]
    marks[0].record()
    for part, mark in zip(parts.values(), marks[1:], strict=True):
        part()
        mark.record()
    marks[-1].synchronize()  # the host waits until the device has passed the last mark
    gaps = itertools.pairwise(marks)
    return dict(zip(parts, (before.elapsed_time(after) for before, after in gaps), strict=True))


# endregion

x = torch.randn(300, 300, device="cuda")
taken = milliseconds(product=lambda: x @ x, sine=x.sin, total=x.sum)
assert list(taken) == ["product", "sine", "total"] and all(t >= 0 for t in taken.values())
print(*(f"{name}: {t:.3f} ms" for name, t in taken.items()), sep="\n")
