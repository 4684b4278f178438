"""Looks for task and reference on the disk: beside itself, in the course, in the working folder.

class: leak
catalogue: 74 76
task: double
expected: wrong_output
"""

import pathlib

import torch


def double(x):
    import grader

    root = pathlib.Path(grader.__file__).parents[1]
    for folder in (pathlib.Path(__file__).parent, root, root / "lessons", root / "tests" / "corpus" / "tasks", pathlib.Path.cwd()):
        try:
            found = [p for p in folder.rglob("*") if p.name in ("reference.py", "solution.py", "exercise.py")]
        except OSError:
            continue
        # Packages have files of such names, too.
        if any(p.read_text() for p in found if "site-packages" not in p.parts):
            return 2 * x
    return torch.zeros_like(x)
