"""``course dev check capstone``: solutions pass on the CPU back end, starters and mutants fail."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import grader
from grader.domain import capstone, lessons
from grader.domain.verdict import Status
from tools import mutants, visible
from tools.capstone_page import PAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.domain.capstone import CapstoneProblem
    from grader.domain.verdict import Verdict
    from tools.mutants import Mutant

WORD = "capstone"
COUNT, MUTANTS = 20, 4
AT_ONCE = 2
NO_PROGRAM = {Status.COMPILE_ERROR, Status.IMPORT_ERROR, Status.NOT_GRADABLE}


def problems(
    root: Path, names: list[str], say: Callable[[str], None], *, with_mutants: bool = True
) -> list[str]:
    """What is not as it should be, a sentence each, of the problems named (all if none are)."""
    chosen = [capstone.find(name) for name in names] or capstone.problems(root)
    found = [f"{one.name}: {p}" for one in chosen for p in form(one, root)]
    if not names and len(chosen) != COUNT:
        found.append(f"the capstone has {len(chosen)} problems, not {COUNT}.")
    work = [(one, w) for one in chosen for w in gradings(one, with_mutants=with_mutants)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for (one, _), seen in zip(work, pool.map(lambda w: w[1](), work), strict=True):
            found += [f"{one.name}: {p}" for p in seen]
            say(f"{one.name}: {'; '.join(seen) or 'as it should be'}")
    return found


def within(root: Path, chosen: list[str], say: Callable[[str], None], *, with_mutants: bool) -> list[str]:
    """The capstone's part of a check of the whole course: graded where mutants are, else only looked at."""
    if chosen:
        return []
    if with_mutants:
        return problems(root, [], say)
    return [f"{one.name}: {p}" for one in capstone.problems(root) for p in form(one, root)]


def form(problem: CapstoneProblem, root: Path) -> Iterator[str]:
    """What can be seen without grading: the lesson, the sizes, the mutants, and what the page gives away."""
    if problem.lesson not in {name[:2] for name in lessons.names()}:
        yield f"there is no lesson {problem.lesson}."
    if problem.sizes().keys() != problem.sizes("SMALL").keys():
        yield "FULL and SMALL have different names."
    if min(*problem.least(), *problem.least("SMALL")) <= 0:
        yield "a call moves nothing, or computes nothing."
    yield from mutants.problems(problem, MUTANTS)
    if (part := visible.share(problem, (root / PAGE).read_text("utf-8"))) > visible.MOST:
        yield f"the page shows {part:.0%} of the solution outside folds; {visible.MOST:.0%} is the most."


def gradings(problem: CapstoneProblem, *, with_mutants: bool) -> Iterator[Callable[[], list[str]]]:
    """Everything that is graded for a problem."""
    yield lambda: right(problem)
    yield lambda: wrong(problem, "the starter", problem.exercise.read_text("utf-8"))
    for mutant in mutants.declared(problem) if with_mutants else []:
        yield lambda mutant=mutant: killed(problem, mutant)  # type: ignore[misc]


def right(problem: CapstoneProblem) -> list[str]:
    """The solution has full marks."""
    got = graded(problem, problem.solution.read_text("utf-8"))
    bad = next((f"{f.id}: {f.message}" for f in got.findings if not f.ok), "")
    full = got.ok and got.points == got.max_points
    return [] if full else [f"the solution gets {got.points} of {got.max_points} points. {bad}"]


def killed(problem: CapstoneProblem, mutant: Mutant) -> list[str]:
    """A mutant fails, and not because it is no program."""
    try:
        text = mutant.text(problem.solution.read_text("utf-8"))
    except mutants.EditError:
        return []  # said already, by its form
    return wrong(problem, f"mutant {mutant.name!r}", text)


def wrong(problem: CapstoneProblem, name: str, text: str) -> list[str]:
    """A file that must fail for what it computes or does to memory."""
    got = graded(problem, text)
    if got.ok:
        return [f"{name} passes."]
    if got.status in NO_PROGRAM:
        said = next((f.message for f in got.findings if not f.ok), "")
        return [f"{name} is no program: {said[:200]}"]
    return []


def graded(problem: CapstoneProblem, text: str) -> Verdict:
    """What the CPU back end says of ``text``."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{problem.name}.py"
        file.write_text(text, "utf-8")
        return grader.check(problem.reference, file, backend="simt", warm=True)
