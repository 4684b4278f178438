"""All checks, printed, and what they mean for the lessons."""

from __future__ import annotations

import importlib.util
import shutil
import textwrap
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from grader.backends import cpu_python, detect
from grader.domain import packages
from grader.domain.errors import BadInputError
from grader.domain.installation import COURSE
from grader.student.doctor import machine, software
from grader.student.doctor.report_line import ReportLine

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.domain.lessons import Lesson

CHECKS: tuple[Callable[[], ReportLine | list[ReportLine]], ...] = (
    software.system, software.python, software.torch, machine.gpu, software.nvcc, software.compiler,
    software.ninja, machine.ncu, machine.sandbox, machine.disk, machine.cache, machine.course,
    software.notebooks, machine.terminal,
)  # fmt: skip


def examine() -> list[ReportLine]:
    """Every check's lines, in order; one that fails itself says so in a line."""
    with ThreadPoolExecutor(4) as pool:
        return [line for part in pool.map(_careful, CHECKS) for line in part]


def _careful(check: Callable[[], ReportLine | list[ReportLine]]) -> list[ReportLine]:
    try:
        found = check()
    except Exception as error:  # a strange machine is what a doctor is for
        return [ReportLine(check.__name__, "no", f"could not be looked at ({type(error).__name__}: {error})")]
    return found if isinstance(found, list) else [found]


def run() -> int:
    """Print the report; 0 if nothing has to be fixed."""
    lines = examine()
    width = max(60, min(100, shutil.get_terminal_size((100, 24)).columns))
    for line in lines:
        _print(f"{line.state:<4}{line.name:<14}", line.what, width)
        if line.fix:
            _print(" " * 18, f"-> {line.fix}", width)
    print()
    for text in lessons(lines):
        _print("", text, width)
    return 1 if any(line.state == "no" for line in lines) else 0


def _print(head: str, text: str, width: int) -> None:
    # Commands are there to be copied: long words stay whole.
    body = textwrap.wrap(text, max(20, width - len(head)), break_long_words=False, break_on_hyphens=False)
    for i, part in enumerate(body or [""]):
        print((head if i == 0 else " " * len(head)) + part)


def lessons(lines: list[ReportLine]) -> list[str]:
    """Which lessons run fully here, and what the others lack: a clock, points that wait, a GPU to record."""
    from grader.domain import lessons as course

    broken = [line.name for line in lines if line.state == "no"]
    if broken:
        return [f"Fix first: {', '.join(broken)}. Then run {COURSE} doctor again."]
    if not software.torch_version():  # nor, most likely, what reads the lessons
        return [_not_installed()]
    every = course.every()
    try:
        choice = detect.choose("auto")
    except BadInputError as error:
        return [str(error)]
    runs = _on_a_gpu(every, choice) if choice.name == "cuda" else _on_a_cpu(every, choice)
    return [*runs, *_packages(every)]


def _not_installed() -> str:
    where = "on the GPU" if detect.gpu_name() and detect.nvcc() else "on the CPU back end, which needs no GPU"
    return (
        f"Nothing is installed yet. The first use of {COURSE}, as {COURSE} list, installs PyTorch and the "
        f"grader into .venv by itself; kernels then run {where}."
    )


def _on_a_gpu(every: list[Lesson], choice: detect.Choice) -> list[str]:
    has_cpu_too = cpu_python.python() is not None
    whole = [x for x in every if not _missing(x) and (has_cpu_too or not _counted(x))]
    report = [f"Back end cuda ({choice.why}): {_list(whole)} run fully here."]
    if not has_cpu_too:
        some = _list([x for x in every if _counted(x)]).capitalize()
        report.append(f"{some} also need the CPU back end (pending_cpu): {COURSE} companion")
    return report


def _on_a_cpu(every: list[Lesson], choice: detect.Choice) -> list[str]:
    here = [x for x in every if not _missing(x)]
    recorded = [x for x in here if list(x.folder.glob("data/trace*"))]
    waiting = {x.number: points for x in here if x not in recorded and (points := _waiting(x))}
    left = [x for x in here if x not in recorded and x.number not in waiting]
    timed = [x for x in left if x.task.speed]
    report = [
        f"Back end simt ({choice.why}).",
        f"All points can be had here: {_list([x for x in left if x not in timed])}.",
        f"All points, with predicted instead of measured times: {_list(timed)}.",
    ]
    if recorded:
        report.append(f"All points, on data that was recorded on a GPU: {_list(recorded)}.")
    if waiting:
        some = [f"{number} ({points} of its points)" for number, points in sorted(waiting.items())]
        report.append(f"Graded here but for what only a GPU can show (pending_gpu): {_named(some)}.")
    return report


def _missing(lesson: Lesson) -> list[str]:
    """Packages of an extra that the lesson needs and this Python lacks."""
    return [name for name in lesson.task.packages if importlib.util.find_spec(name) is None]


def _packages(every: list[Lesson]) -> list[str]:
    lacking = {lesson.number: _missing(lesson) for lesson in every}
    return [f"Lesson {n} lacks {', '.join(names)}; {packages.how(*names)}"
            for n, names in sorted(lacking.items()) if names]  # fmt: skip


def _counted(lesson: Lesson) -> bool:
    """Whether something in it can only be judged on the CPU back end."""
    return any(check.cpu for part in lesson.task.parts for check in part.checks)


def _waiting(lesson: Lesson) -> int:
    """Points that stay open without a GPU."""
    return sum(check.points for part in lesson.task.parts for check in part.checks if check.gpu)


def _list(found: list[Lesson]) -> str:
    return _named(sorted(lesson.number for lesson in found))


def _named(numbers: list[str]) -> str:
    return f"lesson{'s' * (len(numbers) > 1)} {', '.join(numbers)}" if numbers else "none"
