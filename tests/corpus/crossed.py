"""Cross cheats of the corpus with each other and with honest files, and grade what comes of it.

    python -m tests.corpus.crossed [--files 2000] [--seed 1] [--seats 2] [--json FILE] [--keep FOLDER]

A crossing holds two files of one task, their names told apart. Its entry gives what the first one gives where
a rule of ``WHEN`` says so, else what the second one gives; the first is a cheat, the second is any file. So a
crossing with all points is a survivor, which somebody has to look at: its cheat may never have been called.
Survivors are kept in FOLDER; exit code 1 if there are any. Players are forked, which is quicker; they have no
namespaces, so what a file leaves in /dev/shm is removed and is no finding here.
"""

from __future__ import annotations

import argparse
import ast
import collections
import json
import random
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from grader.domain.lessons import load_task
from grader.domain.verdict import Status
from tests.corpus import entries
from tests.corpus.classes import HONEST
from tests.corpus.grading import grade
from tests.corpus.run import desk

# By the number of the call and its first tensor: true in some calls of a grading, false in others.
WHEN = (
    "call % 2 == 0",
    "call % 2 == 1",
    "call > 1",
    "call > 2",
    "call > 4",
    "call == 3",
    "random.random() < 0.5",
    "x.numel() % 2 == 0",
    "x.numel() % 2 == 1",
    "x.shape[0] > 16",
    "x.shape[0] <= 16",
    "x.is_contiguous()",
    "not x.is_contiguous()",
    "x.numel() > 500",
    "time.perf_counter_ns() % 3 == 0",
)
SLOW = {"exhaustion", "death"}  # what they do takes as long as the limits let it
LONG_S = 120.0  # longer than any file of the corpus takes


class _Renamed(ast.NodeTransformer):
    """All names that a file binds at its top get an ending, and so do the extensions that it builds."""

    def __init__(self, tree: ast.Module, ending: str) -> None:
        self._ending = ending
        self._own = {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
        self._own |= {
            n.id for top in tree.body if not isinstance(top, ast.FunctionDef | ast.ClassDef)
            for n in ast.walk(top) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }  # fmt: skip

    def name(self, old: str) -> str:
        """What it is called now."""
        return old + self._ending if old in self._own else old

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.name(node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self.name(node.arg)
        return node

    def visit_Global(self, node: ast.Global) -> ast.AST:
        node.names = [self.name(name) for name in node.names]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self.name(node.name)
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = self.name(node.name)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if ast.unparse(node.func).endswith("load_inline"):
            first = [k.value for k in node.keywords if k.arg == "name"] or node.args[:1]
            for one in first:
                if isinstance(one, ast.Constant) and isinstance(one.value, str):
                    one.value += self._ending
        return self.generic_visit(node)


def crossing(first: str, second: str, entry: str, when: str) -> str:
    """The text of both files with an entry that calls either; SyntaxError if one is not Python."""
    parts, future = [], list[ast.stmt]()
    for text, ending in ((first, "_1"), (second, "_2")):
        tree = ast.parse(text)
        renamed = _Renamed(tree, ending).visit(tree)
        future += [n for n in renamed.body if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
        rest = [n for n in renamed.body if not (isinstance(n, ast.ImportFrom) and n.module == "__future__")]
        parts.append(ast.unparse(ast.Module(rest, [])))
    head = "\n".join(dict.fromkeys(ast.unparse(n) for n in future))
    return f"""{head}
import random, time, torch
{parts[0]}
{parts[1]}
calls = 0


def {entry}(x, *more):
    global calls
    calls += 1
    call = calls
    return ({entry}_1 if {when} else {entry}_2)(x, *more)
"""


def drawn(count: int, seed: int) -> list[tuple[entries.Entry, entries.Entry, str]]:
    """That many pairs of files of one task with a rule, the first a cheat; none of them twice."""
    every = [e for e in entries.every() if e.kind not in SLOW and _has_its_function(e)]
    by_task = collections.defaultdict(list)
    for one in every:
        by_task[one.task].append(one)
    rng, found = random.Random(seed), dict[tuple[str, str, str], tuple[entries.Entry, entries.Entry, str]]()
    cheats = [e for e in every if e.kind != HONEST]
    while len(found) < count:
        first, when = rng.choice(cheats), rng.choice(WHEN)
        second = rng.choice(by_task[first.task])
        if second is not first:
            found[first.name, second.name, when] = (first, second, when)
    return list(found.values())


def _has_its_function(entry: entries.Entry) -> bool:
    """Whether it is Python with a function for its task's entry, which a crossing can call."""
    task = load_task(entries.HERE / "tasks" / entry.task / "task.py")
    try:
        tree = ast.parse(entry.path.read_text())
    except SyntaxError:
        return False
    return any(isinstance(n, ast.FunctionDef) and n.name == task.entry for n in tree.body)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seats", type=int, default=2)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    begun, (place, _lock) = time.monotonic(), desk("simt")
    seats = collections.deque(f"{place}-{n}" for n in range(options.seats))

    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(options.seats) as pool:

        def one(number: int, pair: tuple[entries.Entry, entries.Entry, str]) -> dict[str, Any]:
            first, second, when = pair
            entry = load_task(entries.HERE / "tasks" / first.task / "task.py").entry
            path = Path(name) / f"{number}.py"
            path.write_text(crossing(first.path.read_text(), second.path.read_text(), entry, when))
            file = entries.Entry(path, "", "crossed", "-", first.task, Status.WRONG_OUTPUT, gpu=False)
            seat, start = seats.popleft(), time.monotonic()
            try:
                result = grade(file, "simt", seat, players="forked")
            finally:
                seats.append(seat)
            full = result.verdict.points == result.verdict.max_points
            if full and options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
                (options.keep / f"{number}.py").write_text(
                    f"# {first.name} if {when} else {second.name}\n{path.read_text()}"
                )
            return {
                "file": number, "first": first.name, "second": second.name, "when": when, "full": full,
                "status": str(result.status), "seconds": time.monotonic() - start,
            }  # fmt: skip

        jobs = [pool.submit(one, *each) for each in enumerate(drawn(options.files, options.seed))]
        done = list[dict[str, Any]]()
        for job in as_completed(jobs):
            done.append(job.result())
            if done[-1]["full"] or done[-1]["seconds"] > LONG_S:
                print(done[-1], flush=True)
            if options.json:
                options.json.write_text(json.dumps(_summary(done, options.seed, begun), indent=1) + "\n")
    print(f"{len(done)} files, {sum(d['full'] for d in done)} with all points")
    sys.exit(any(d["full"] for d in done))


def _summary(done: list[dict[str, Any]], seed: int, begun: float) -> dict[str, Any]:
    return {
        "command": f"python -m tests.corpus.crossed --files {len(done)} --seed {seed}",
        "date": time.strftime("%Y-%m-%d"),
        "files": len(done),
        "seconds": round(time.monotonic() - begun, 1),
        "longest_s": round(max(d["seconds"] for d in done), 1),
        "statuses": dict(collections.Counter(d["status"] for d in done).most_common()),
        "all_points": [{k: d[k] for k in ("file", "first", "second", "when")} for d in done if d["full"]],
    }


if __name__ == "__main__":
    main()
