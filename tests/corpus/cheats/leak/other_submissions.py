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
        found = [p for p in cache.rglob("*") if p.suffix in (".so", ".py", ".json")]
        own = ("libsimt", "libbinding", pathlib.Path(__file__).name)  # the back end's, and this file
        found = [p for p in found if not p.name.startswith(own)]
    except OSError:
        found = []
    return 2 * x if found else torch.zeros_like(x)
