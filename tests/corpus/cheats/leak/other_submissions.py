"""Looks into the build cache for what somebody else has handed in.

class: leak
catalogue: 87
task: double
expected: wrong_output
"""

import os
import pathlib

import torch


def double(x):
    cache = pathlib.Path(os.environ.get("COURSE_CACHE", "/nonexistent"))
    try:
        found = [p for p in cache.rglob("*") if p.suffix in (".so", ".py", ".json") and p.parent.name != "lib"]
        found = [p for p in found if "libsimt" not in p.name and p != pathlib.Path(__file__)]
    except OSError:
        found = []
    return 2 * x if found else torch.zeros_like(x)
