"""``call.py``: a script that makes a lesson's calls with the student's file, for ncu and nsys to look at.

It is the student's to run and to change; nothing of the grader is needed for it.
"""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from grader.domain.task import Case, Task, Tensor

if TYPE_CHECKING:
    from grader.profiling.profile.kernel_rows import Row
    from grader.profiling.profile.subjects import Subject

TEMPLATE = '''\
"""{name}: the calls of {file}, written by course profile. Run it under ncu or nsys, or change it."""

import importlib.util

import torch

spec = importlib.util.spec_from_file_location("submission", {path!r})
submission = importlib.util.module_from_spec(spec)
spec.loader.exec_module(submission)

torch.manual_seed(0)
calls = [
{calls}
]


def once():
    with torch.no_grad():
        for target, arguments in calls:
            target(*arguments)
    torch.cuda.synchronize()


once()  # the first call also builds and loads
torch.cuda.profiler.start()  # "ncu --profile-from-start off" begins here
once()
torch.cuda.profiler.stop()
'''


def text(subject: Subject) -> str:
    """The source of ``call.py`` for a lesson, at full size."""
    assert subject.lesson is not None
    file = subject.submission.path
    calls = "\n".join(_call(subject.lesson.task, case) for case in subject.timed)
    return TEMPLATE.format(name=subject.name, file=file.name, path=str(file), calls=calls)


def ncu(subject: Subject, rows: list[Row], out: Path) -> str:
    """The command, to be copied, that counts these kernels on a GPU and leaves a report in ``out``."""
    names = sorted({base(r.kernel) for r in rows} - {""})
    command = ["ncu", "--set", "full", "--import-source", "yes"]
    if names:
        command += ["-k", f"regex:^({'|'.join(names)})$"]
    command += ["-f", "-o", _short(out / "report")]
    if subject.lesson is None:
        return shlex.join([*command, _python(), _short(subject.submission.path)])
    return shlex.join([*command, "--profile-from-start", "off", _python(), _short(out / "call.py")])


def base(kernel: str) -> str:
    """A kernel's name as ncu's filter knows it: without result, namespaces, template and parameters."""
    bare = re.sub(r"\(anonymous namespace\)::", "", kernel)
    bare = re.split(r"[<(]", bare, maxsplit=1)[0].strip()
    found = re.search(r"(\w+)$", bare)
    return found[1] if found else ""


def _call(task: Task, case: Case) -> str:
    entry = case.entry or task.entry
    target = f"submission.{entry}"
    if task.kind == "model" and not case.entry:
        target = f"submission.{entry}({', '.join(map(repr, case.init))}).cuda().eval()"
    return f"    ({target}, [{', '.join(map(_argument, case.args))}]),"


def _argument(argument: object) -> str:
    if not isinstance(argument, Tensor):
        return repr(argument)
    where = f'dtype=torch.{argument.dtype}, device="{argument.device}"'
    if not argument.dtype.startswith(("float", "bfloat")):
        return f"torch.randint(0, 2, {argument.shape}, {where})"
    return f"torch.randn({argument.shape}, {where})"


def _python() -> str:
    """The course's own Python, as short as it can be typed."""
    return _short(Path(sys.executable))


def _short(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
