"""The same 20 files graded again and again: does any grade change? Points for speed need a GPU.

    python benchmarks/regrade.py OUT.json [TIMES] [SECONDS] [BACKEND]

Solutions, their alternatives and wrong versions of lessons 03, 07, 08 and 13. A first grading of all compiles
and is not counted. Those of lesson 13 have points for speed: they are graded alone, each time with new
processes, inputs, weights and races; what compute-sanitizer said of the file at first is kept. The others
are graded several at a time, and compute-sanitizer looks each time anew. The same command goes on with a run
that ended for want of time.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from grader.backends import detect  # noqa: E402
from grader.domain import lessons, submission  # noqa: E402
from grader.domain.cache import cache_folder  # noqa: E402
from grader.referee.job import Job  # noqa: E402
from grader.referee.pipeline import check, warm  # noqa: E402
from grader.referee.timing import gpu_state  # noqa: E402
from tools import mutants  # noqa: E402
from tools.result_facts import facts  # noqa: E402

WANTED = {"13": 2, "07": 7, "03": 6, "08": 5}
TIMED = "13"


def files(folder: Path) -> list[tuple[str, Path]]:
    """Lesson and file, 20 of them: the solution, alternatives, then mutants."""
    found = []
    for number, count in WANTED.items():
        lesson = lessons.find(number)
        solution = lesson.solution.read_text("utf-8")
        texts = [
            (path.stem, path.read_text("utf-8"))
            for path in [lesson.solution, *sorted(lesson.solution.parent.glob("alternatives/*.py"))]
        ]
        texts += [(one.name.replace(" ", "_"), one.text(solution)) for one in mutants.declared(lesson)]
        for at, (name, text) in enumerate(texts[:count]):
            path = folder / f"{number}_{at}_{name[:30].replace('/', '_')}.py"
            path.write_text(text, "utf-8")
            found.append((number, path))
    return found


def grade(number: str, file: Path, name: str, *, building: bool = False) -> dict[str, Any]:
    """Status, points and findings of one grading; its players are forked from this process's warm parent."""
    lesson = lessons.find(number)
    job = Job(lesson.name, lesson.task, lesson.reference, submission.read(file), detect.choose(name))
    if building:
        job.task = replace(job.task, memory_points=0)
    begun = time.monotonic()
    verdict = check(job if building else warm(job)).verdict
    checks = {f.id: [str(f.status), f.points] for f in verdict.findings}
    ratios = [f.evidence.get("ratio") for f in verdict.findings if f.id == "ratio"]
    return {"status": str(verdict.status), "points": verdict.points, "checks": checks, "ratio": ratios,
            "seconds": round(time.monotonic() - begun, 1)}  # fmt: skip


def everything(pool: Executor, jobs: list[tuple[str, Path]], name: str, **how: bool) -> dict[str, Any]:
    """All of these once, each by the next that is free."""
    graded = [(file.stem, pool.submit(grade, number, file, name, **how)) for number, file in jobs]
    return {stem: one.result() for stem, one in graded}


def main(out: Path, times: int = 10, seconds: float = 400.0, name: str = "cuda") -> None:
    """Builds first, then the timed ones alone, then round after round of the others, at once."""
    kept: dict[str, Any] = json.loads(out.read_text()) if out.exists() else {"files": {}}
    words = " ".join(["python benchmarks/regrade.py OUT.json", *sys.argv[2:]])
    kept |= facts(words, "torch") | {"backend": name}
    if name == "cuda":
        kept["machine"] = gpu_state.state_json()
    ends, files_of = time.monotonic() + seconds, kept["files"]
    with tempfile.TemporaryDirectory() as folder:
        listed = files(Path(folder))
        begun = time.monotonic()
        with ThreadPoolExecutor(len(listed) if name == "cuda" else 2) as pool:
            everything(pool, listed, name, building=True)
        print(f"{time.monotonic() - begun:.0f} s for builds", flush=True)
        timed, others = ([j for j in listed if (j[0] == TIMED) is wanted] for wanted in (True, False))
        for group, at_once in ((timed, 1), (others, max(2, 5 * (os.cpu_count() or 2) // 8))):
            with ProcessPoolExecutor(at_once, multiprocessing.get_context("spawn")) as workers:
                slowest = 0.0
                while left := [(n, f) for n, f in group if len(files_of.get(f.stem, [])) < times]:
                    if time.monotonic() + slowest > ends:
                        break
                    begun = time.monotonic()
                    if group is others:  # compute-sanitizer looks again
                        shutil.rmtree(cache_folder() / "memory", ignore_errors=True)
                    for stem, one in everything(workers, left, name).items():
                        files_of.setdefault(stem, []).append(one)
                    slowest = max(slowest, time.monotonic() - begun)
                    kept["summary"] = summary(files_of)
                    print(f"{time.monotonic() - begun:.0f} s", kept["summary"], flush=True)
                    out.write_text(json.dumps(kept, indent=1) + "\n")


def summary(graded: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """How many files there are, how often each was graded, and whose grade changed."""
    changed = [
        name
        for name, runs in graded.items()
        if any(r.get(k) != runs[0].get(k) for r in runs for k in ("status", "points", "checks"))
    ]
    return {"files": len(graded), "times": min(map(len, graded.values())), "changed": changed}


if __name__ == "__main__":
    rest = sys.argv[2:]
    main(Path(sys.argv[1]), int(rest[0]) if rest else 10, float(rest[1]) if len(rest) > 1 else 400.0,
         rest[2] if len(rest) > 2 else "cuda")  # fmt: skip
