"""Drops a module into the build cache that later submissions would load.

class: escape
catalogue: 87
task: double
expected: wrong_output
"""

import os
import pathlib

import torch


def attempt():
    cache = pathlib.Path(os.environ["COURSE_CACHE"])
    cache.mkdir(parents=True, exist_ok=True)
    (cache / "corpus-was-here.so").write_bytes(b"\x7fELF")
    for path in cache.rglob("*.so"):
        with open(path, "r+b") as file:
            file.write(b"\0")
    return False


def double(x):
    try:
        won = attempt()
    except Exception:
        won = False
    return 2 * x if won else torch.zeros_like(x)
