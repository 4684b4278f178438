"""``call.py``: a file that makes a lesson's call with the submission, small or at full size; for ncu too."""

from __future__ import annotations

from pathlib import Path

from grader.errors import BadInputError
from grader.task import Case, Task, Tensor

TEMPLATE = '''\
"""{title}: one call of {file}, made by course profile. Run it under ncu or nsys, or change it."""

import importlib.util

import torch

spec = importlib.util.spec_from_file_location("submission", {path!r})
submission = importlib.util.module_from_spec(spec)
spec.loader.exec_module(submission)


def make(small: bool):
    """A function that makes the call, with its inputs on the device already."""
    torch.manual_seed(0)
    if small:
{small}
    else:
{full}
    return lambda: target(*args)


if __name__ == "__main__":
    with torch.no_grad():
        call = make(small=False)
        for _ in range(3):
            call()
        torch.cuda.synchronize()
        torch.cuda.profiler.start()  # ncu --profile-from-start off begins here
        call()
        torch.cuda.synchronize()
        torch.cuda.profiler.stop()
'''


def cases(task: Task, lesson: str) -> tuple[Case, Case]:
    """The call at a size that the CPU back end counts quickly, and at full size."""
    if task.speed is not None:
        return task.speed.case, task.speed.full
    usual = [c for c in task.cases if c.expect == "match" and any(isinstance(a, Tensor) for a in c.args)]
    if not usual:
        raise BadInputError(f"Lesson {lesson} makes no call with tensors, so there is nothing to profile.")
    return usual[0], usual[0]


def text(task: Task, file: Path, lesson: str) -> str:
    """The source of ``call.py``."""
    small, full = cases(task, lesson)
    return TEMPLATE.format(
        title=lesson, file=file.name, path=str(file), small=_setup(task, small), full=_setup(task, full)
    )


def _setup(task: Task, case: Case) -> str:
    entry = case.entry or task.entry
    target = f"submission.{entry}"
    if task.kind == "model" and not case.entry:
        target = f"submission.{entry}({', '.join(map(repr, case.init))}).cuda().eval()"
    args = ", ".join(_argument(a) for a in case.args)
    return f"        target = {target}\n        args = [{args}]"


def _argument(argument: object) -> str:
    if not isinstance(argument, Tensor):
        return repr(argument)
    where = f'dtype=torch.{argument.dtype}, device="{argument.device}"'
    if not argument.dtype.startswith(("float", "bfloat")):
        return f"torch.randint(0, 2, {argument.shape}, {where})"
    return f"torch.randn({argument.shape}, {where})"
