"""Grade KernelBench's problems as they are: each against itself, with one element wrong, in low precision.

    python3 benchmarks/kernelbench.py FOLDER [--out FILE] [--levels 1,2,3] [--only 1/19,2/76]
                                      [--versions same,wrong,low] [--part 1/3] [--seconds 540]
                                      [--at-once 4] [--limit 60] [--backend cuda]
    python3 benchmarks/kernelbench.py FOLDER --report [--out FILE]

FOLDER has KernelBench's folders level1, level2 and level3; nothing is fetched, and nothing of a problem is
kept in this repository. Each result is a line of FILE, in JSON; what is there is not graded again, so the
same command goes on where the last one stopped. ``--seconds`` begins nothing new after that time.
What each version is, and why it must get its status: ``benchmarks/kernelbench_parts/versions.py``.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.kernelbench_parts.grading import grade, judged  # noqa: E402
from benchmarks.kernelbench_parts.look import Look, look  # noqa: E402
from benchmarks.kernelbench_parts.report import report, rows  # noqa: E402
from benchmarks.kernelbench_parts.room import Room, needed  # noqa: E402
from benchmarks.kernelbench_parts.versions import Version, versions  # noqa: E402
from grader.backends import detect  # noqa: E402


@dataclass(frozen=True, slots=True)
class Problem:
    """A file of KernelBench, ``name`` as in "level1/19_ReLU"."""

    name: str
    file: Path


def problems(folder: Path, levels: str, only: str = "") -> list[Problem]:
    """Those of the folder in order of their numbers; ``only``: "1/19,2/76", by level and number."""
    found = []
    for level in levels.split(","):
        files = [f for f in (folder / f"level{level}").glob("*.py") if f.name.split("_")[0].isdigit()]
        found += [
            (f"{level}/{f.name.split('_')[0]}", Problem(f"level{level}/{f.stem}", f))
            for f in sorted(files, key=lambda f: int(f.name.split("_")[0]))
        ]
    wanted = set(only.split(",")) if only else {short for short, _ in found}
    return [problem for short, problem in found if short in wanted]


class Run:
    """The gradings of one command: several at a time, each result written down as it comes."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options, self.folder = options, folder
        self.done = {(row["problem"], row["version"]) for row in rows(options.out)}
        self.end = time.monotonic() + options.seconds
        on_gpu = detect.choose(options.backend).name == "cuda"
        self.room = Room(detect.gpu_bytes() if on_gpu else 0)
        self.wrong = self.left = 0
        self._writing = threading.Lock()

    def problem(self, problem: Problem) -> None:
        """All versions of one that are not there yet, one after another."""
        wanted = [name for name in self.options.versions.split(",") if (problem.name, name) not in self.done]
        if not wanted:
            return
        seen = look(problem.file)
        for version in versions(seen):
            if version.name not in wanted:
                continue
            if time.monotonic() > self.end:
                self.left += 1
                continue
            self._write(problem, seen, self._graded(problem, seen, version))

    def _graded(self, problem: Problem, seen: Look, version: Version) -> dict[str, Any]:
        if not version.kind:
            return judged(version, {"status": "", "seconds": 0.0}) | {"right": True}
        home = self.folder / problem.name / version.name
        home.mkdir(parents=True)
        text = problem.file.read_text()
        (home / "reference.py").write_text(text)
        (home / "submission.py").write_text(text + version.added)
        with self.room.take(needed(seen)):
            found = grade(
                home / "reference.py", home / "submission.py", self.options.backend, self.options.limit
            )
        return judged(version, found)

    def _write(self, problem: Problem, seen: Look, found: dict[str, Any]) -> None:
        sizes = {"tensor_bytes": seen.tensor_bytes, "state_bytes": seen.state_bytes}
        row = {"problem": problem.name} | found | sizes
        with self._writing:
            with self.options.out.open("a") as file:
                file.write(json.dumps(row) + "\n")
            self.wrong += not row["right"]
            mark = "ok" if row["right"] else "!!"
            print(
                f"{mark} {row['seconds']:6.1f} s  {problem.name} {row['kind']}: {row['status']}", flush=True
            )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=Path("kernelbench.jsonl"))
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--levels", default="1,2,3")
    parser.add_argument("--only", default="")
    parser.add_argument("--versions", default="same,wrong,low")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--seconds", type=float, default=86400.0)
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    chosen = problems(options.folder, options.levels, options.only)
    if options.report:
        print(report(rows(options.out), [problem.name for problem in chosen]))
        return 0
    number, parts = (int(n) for n in options.part.split("/"))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.at_once) as pool:
        run = Run(options, Path(folder))
        for _ in pool.map(run.problem, chosen[number - 1 :: parts]):
            pass
    print(f"{run.wrong} not as expected; {run.left} versions are left for the next time")
    return 1 if run.wrong or run.left else 0


if __name__ == "__main__":
    sys.exit(main())
