"""The grading of a file against a reference file, in whichever of the known forms that is."""

from __future__ import annotations

import ast
import os
from pathlib import Path
from typing import TYPE_CHECKING

from grader.domain import lessons, python_text, submission
from grader.domain.errors import BadInputError
from grader.domain.installation import document
from grader.domain.task import Task
from grader.referee.job import Job, within
from grader.referee.pairs import pair_timing, task_yml
from grader.referee.pairs.pair_problem import PairProblem
from grader.referee.pairs.pair_spec import PairSpec
from grader.referee.process.player_process import Limits

if TYPE_CHECKING:
    from grader.backends.detect import Choice
    from grader.domain.options import GradingOptions
    from grader.domain.speed import Speed
    from grader.domain.submission import Submission
    from grader.referee.session import Session

LIMITS = Limits(load=60.0, call=300.0)  # full-size problems take their time on a CPU
BESIDE = (".cu", ".cuh", ".cpp", ".cc", ".c", ".h", ".hpp", ".inl")
MOST_BESIDE, DEEPEST = 2000, 4  # files that are looked at, folders within folders


def job(reference: Path, file: Path, choice: Choice, options: GradingOptions) -> Job:
    """The grading of ``file`` against ``reference``; BadInputError for files that are no pair.

    ``reference`` is a KernelBench-style file (``Model``, ``get_inputs``, ``get_init_inputs``), or a
    ``task.yml`` or its folder.
    """
    points = 2 if choice.name == "simt" else 0

    def timer(session: Session) -> Speed | None:
        return pair_timing.speed_of_pair(session, options.baselines, options.card)

    limits = within(LIMITS, options)
    if task_yml.is_one(reference):
        problem = task_yml.read(reference)
        spec = PairSpec("custom_kernel", "ref_kernel", specs=problem.tests, own_check=problem.own_check)
        mine, shown = submission.read(file), problem.shown
        task = _task(spec, problem.name, points, options)
        return Job(
            problem.name, task, problem.reference, mine, choice, limits, options,
            beside=(*_beside(mine), *shown), reference_beside=problem.beside, timer=timer,
            pose=lambda sides: PairProblem(sides, spec),
        )  # fmt: skip
    ref, mine = submission.read(reference), submission.read(file)
    _require(ref, {"Model", "get_inputs"})
    spec = PairSpec(
        as_given=options.inputs == "as-given", mode=options.mode, budget_bytes=options.budget_bytes
    )
    task = _task(spec, ref.path.stem, points, options)
    return Job(
        ref.path.stem, task, ref.path, mine, choice, limits, options, beside=_beside(mine),
        reference_beside=_beside(ref), timer=timer, pose=lambda sides: PairProblem(sides, spec),
    )  # fmt: skip


def _task(spec: PairSpec, title: str, memory_points: int, options: GradingOptions) -> Task:
    """The cases of a pair, a teacher's hidden ones last."""
    task = Task(
        title, spec.entry, spec.cases, "function" if spec.specs else "model",
        reference_entry=spec.reference_entry, memory_points=memory_points, own=options.own,
        stream_points=1 if options.streams == "strict" else 0,
    )  # fmt: skip
    return lessons.with_hidden(task, options.hidden) if options.hidden else task


def _require(ref: Submission, names: set[str]) -> None:
    """The reference must define these; said before anything is started."""
    if error := ref.syntax_error():
        raise BadInputError(f"{ref.name}, line {error.lineno}: SyntaxError: {error.msg}.")
    tree = python_text.parse(ref.source)
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(a.asname or a.name) for a in node.names}
        elif isinstance(node, ast.Assign):
            found |= {t.id for t in node.targets if isinstance(t, ast.Name)}
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            return  # it may define them there
    if missing := sorted(names - found):
        raise BadInputError(
            f"{ref.name} defines no {missing[0]}; a reference has a class Model, get_inputs() and "
            f"get_init_inputs(), as in {document('guide/kernelbench')}."
        )


def _sources_below(folder: Path) -> list[Path]:
    """C++ and CUDA files there; what is looked at is bounded, for the folder may be anybody's home."""
    found: list[Path] = []
    looked_at = 0
    for place, folders, names in os.walk(folder):
        here = Path(place)
        depth = len(here.relative_to(folder).parts)
        looked_at += len(names) + len(folders)
        if looked_at > MOST_BESIDE or (depth and any(Path(n).suffix in (".py", ".ipynb") for n in names)):
            folders.clear()
            if depth:
                continue
        folders[:] = sorted(f for f in folders if depth < DEEPEST and not f.startswith((".", "__")))
        found += [p for n in sorted(names) if (p := here / n).suffix in BESIDE and p.is_file()]
    return found


def _beside(file: Submission) -> tuple[Path, ...]:
    """C++ and CUDA files of the same folder that the file names: ``load`` and ``#include`` read them.

    And of folders in it, but none with Python files or notebooks: that is somebody's submission of its own.
    """
    folder = (file.given or file.path).parent
    texts = [file.source]
    found: dict[Path, None] = {}
    candidates = _sources_below(folder)
    while texts:
        text = texts.pop()
        for path in candidates:
            if path.name in text and path not in found:
                found[path] = None
                texts.append(path.read_text("utf-8", errors="replace")[: 1 << 20])
    return tuple(p.resolve() for p in found)
