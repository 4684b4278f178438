"""The capstone on its page and on the site: the table of its problems, their starters, and the solutions.

The table stands between ``<!-- capstone -->`` and ``<!-- /capstone -->``. Sizes are read from the references,
and bytes and operations computed from them. Times, from ``benchmarks/results/capstone.json``, stand above the
solutions: whoever reads the page has still to predict them.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from grader.domain import capstone, folds, gpu_card
from grader.domain.markers import MARKER, block, starter
from grader.profiling.profile.kernel_rows import floor
from tools import page_sources

if TYPE_CHECKING:
    from pathlib import Path

    from grader.domain.capstone import CapstoneProblem

PAGE = f"{capstone.FOLDER}/README.md"
SOLUTIONS = f"{capstone.FOLDER}/solutions.md"
RESULTS = "benchmarks/results/capstone.json"
TABLE = re.compile(r"(<!-- capstone -->\n).*?(<!-- /capstone -->)", re.S)
TIMED = ("eager", "compiled", "ours")
HEAD = """\
# Solutions of the capstone

One right solution of each problem, short before fast. Every fold says which problem it gives away.
"""


def files(root: Path) -> dict[Path, str]:
    """What ``course dev generate`` writes: the starters, the page with its table, and the solutions' page."""
    every = capstone.problems(root)
    if not every:
        return {}
    page = (root / PAGE).read_text("utf-8")
    wanted = {problem.exercise: starter(problem.solution) for problem in every}
    wanted[root / PAGE] = TABLE.sub(lambda m: f"{m[1]}\n{table(every)}\n{m[2]}", page)
    wanted[root / SOLUTIONS] = "\n".join([HEAD, times(every, root), *map(solution, every)])
    return wanted


def site(root: Path, *, solutions: bool) -> dict[str, str | bytes]:
    """The same on the site, with the references; solutions only where they are shown."""
    every = capstone.problems(root)
    if not every:
        return {}
    page = (root / PAGE).read_text("utf-8")
    found: dict[str, str | bytes] = {
        PAGE: page_sources.portable(page if solutions else folds.without_solutions(page))
    }
    for problem in every:
        for path in (problem.reference, problem.exercise):
            found[path.relative_to(root.resolve()).as_posix()] = path.read_bytes()
    if solutions:
        found[SOLUTIONS] = page_sources.portable((root / SOLUTIONS).read_text("utf-8"))
    return found


def table(every: list[CapstoneProblem]) -> str:
    """A row a problem. No time that was measured stands here: it is to be predicted."""
    card = gpu_card.card()
    heads = ["problem", "size", "MB", "million operations", f"us, {card.name}", "idea", "how long"]
    lines = [f"| {' | '.join(heads)} |", "|---|---|---:|---:|---:|---|---|"]
    for one in every:
        moved, operations = one.least()
        size = ", ".join(f"{number:,} {name}" for name, number in one.sizes().items())
        cells = [
            f"[{one.title}](problems/{one.name}/reference.py) `{one.name}`", size, f"{moved / 1e6:,.0f}",
            f"{operations / 1e6:,.0f}", f"{floor(moved, operations, card) * 1e6:,.0f}",
            f"{one.idea} ([{one.lesson}]({_page_of(one)}))", capstone.LEVELS[one.level],
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def times(every: list[CapstoneProblem], root: Path) -> str:
    """What ``benchmarks/capstone.py`` measured, a row a problem; nothing without a run."""
    path = root / RESULTS
    if not path.is_file():
        return ""
    found = json.loads(path.read_text("utf-8"))
    lines = [
        f"Medians in us on an {found['machine']['name']}, with a cold L2 cache, by `{found['command']}`,",
        f"PyTorch {found['versions']['torch']}. The floor is by peak numbers of the {found['floor_card']}.",
        "",
        "| problem | floor | eager | `torch.compile` | the solution below |",
        "|---|---:|---:|---:|---:|",
    ]
    for one in every:
        if taken := found["seconds"].get(one.name):
            cells = [found["floor_seconds"][one.name], *(taken[name] for name in TIMED)]
            lines.append(f"| {one.title} | {' | '.join(f'{1e6 * s:,.0f}' for s in cells)} |")
    return "\n".join(lines) + "\n"


def solution(problem: CapstoneProblem) -> str:
    """The fold of one solution, without the marks that make the starter."""
    lines = [x for x in problem.solution.read_text("utf-8").splitlines() if not MARKER.match(x)]
    code = block(lines, "python")
    return f"## {problem.title}\n\n<details>\n<summary>{folds.COMPARE}</summary>\n\n{code}\n\n</details>\n"


def _page_of(problem: CapstoneProblem) -> str:
    folder = problem.folder.parents[2]
    (found,) = folder.glob(f"{problem.lesson}_*")
    return f"../{found.name}/README.md"
