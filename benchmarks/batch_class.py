"""A made-up class of 200, 50 of them hostile, graded in one batch; each must get its status.

    python benchmarks/batch_class.py [--count 200] [--hostile 50] [--json FILE]
    python benchmarks/batch_class.py --speed 1,2 --count 40 --hostile 0 [--backend cuda] [--json FILE]
    python benchmarks/batch_class.py --speed 1,2 --count 32 --lesson 13 --built --backend cuda [--json F]

With ``--speed`` the same class, no two kernels alike, is graded with each number of workers, from an empty
cache of builds and once more with what was built. Kept are the seconds of the whole command, in which its
processes start, and of what lies between its first verdict and its last. On the CPU a worker gets one core
(taskset); on GPUs the number is theirs. A class of another ``--lesson`` is its solution, so often, each time
another file: lesson 13 races each, for which a GPU must have nothing else to do. With ``--built`` these files
differ in Python alone, and the solution is graded before, as is a small class: nothing is built, and a
machine that gets its memory as it is used has it. Each class is judged once. No two of them share a file,
since what compute-sanitizer found clean it does not look at again.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from grader.backends.detect import gpu_name  # noqa: E402
from grader.domain import lessons  # noqa: E402
from tests.teaching.batch import klass  # noqa: E402

LESSON = "03"
BEFORE = 4  # files for each worker, graded before what is measured


def grade(
    folder: Path,
    out: Path,
    backend: str,
    workers: int,
    env: dict[str, str],
    cores: str = "",
    lesson: str = LESSON,
) -> tuple[list[dict[str, Any]], float, float, float]:
    """One batch in a process of its own: its rows, its seconds, those until the first verdict, and from then
    on those a verdict.
    """
    words = ["batch", str(folder), "--lesson", lesson, "--out", str(out), "--backend", backend, "--quiet"]
    words += ["--workers", str(workers), "--limit", "30"]
    command = [*(["taskset", "-c", cores] if cores else []), sys.executable, "-m", "grader", *words]
    begun = time.monotonic()
    done = subprocess.Popen(command, cwd=ROOT, env=os.environ | env, stdout=subprocess.DEVNULL)
    seen: list[float] = []
    while done.poll() is None:
        lines = [text for place in out.glob("journal.jsonl") for text in place.read_bytes().splitlines()]
        seen += [time.monotonic()] * (len(lines) - len(seen))
        time.sleep(0.05)
    seconds = time.monotonic() - begun
    going = (seen[-1] - seen[0]) / max(1, len(seen) - 1) if seen else 0.0
    if done.returncode not in (0, 1):
        sys.exit(done.returncode)
    rows: list[dict[str, Any]] = json.loads((out / "reports" / "class.json").read_text())["rows"]
    return rows, seconds, seen[0] - begun if seen else seconds, going


def whole(made: list[klass.Made], folder: Path, backend: str, workers: int) -> dict[str, Any]:
    """The class once, with every row compared."""
    rows, seconds, *_ = grade(folder / "class", folder / "results", backend, workers, {})
    by_student = {row["student"]: row for row in rows}
    wrong = {
        m.student: {
            "kind": m.kind,
            "expected": m.expected,
            "status": klass.status(by_student[m.student]["checks"]),
        }
        for m in made
        if klass.status(by_student[m.student]["checks"]) != m.expected
    }
    return {
        "rows": len(rows), "seconds": round(seconds, 1), "wrong": wrong,
        "kinds": dict(Counter(m.kind for m in made)),
        "statuses": dict(Counter(klass.status(r["checks"]) for r in rows)),
    }  # fmt: skip


def same(lesson: str, count: int, folder: Path, *, built: bool) -> Path:
    """A class that hands in the lesson's solution, each with a comment of their own.

    The comment is in the kernel, so that each is built, or with ``built`` in Python.
    """
    folder.mkdir()
    code = lessons.find(lesson).solution.read_text()
    for number in range(count):
        words = f"{folder.name} {number}"
        kernel = code.replace("__global__", f"// {words}\n__global__", 1)
        text = f"{code}\n# {words}\n" if built else kernel
        (folder / f"student{number:03}.py").write_text(text)
    return folder


def speeds(
    folder: Path, backend: str, counts: list[int], number: int, *, built: bool, lesson: str
) -> dict[str, Any]:
    """Gradings a second by number of workers, with an empty cache of builds and with that of the first time.

    The first build of the back end itself is not counted.
    """
    runs: dict[str, dict[str, Any]] = {}
    with contextlib.ExitStack() as caches:
        for count in counts:
            if not runs or not built:
                env = {"COURSE_CACHE": caches.enter_context(tempfile.TemporaryDirectory())}
                subprocess.run(
                    [
                        sys.executable, "-m", "grader", "check", lesson, str(lessons.find(lesson).solution),
                        "--backend", backend,
                    ],
                    cwd=ROOT, env=os.environ | env, check=True, stdout=subprocess.DEVNULL,
                )  # fmt: skip
                if built:
                    before = same(lesson, BEFORE * max(counts), folder / "before", built=True)
                    grade(before, folder / "results-before", backend, max(counts), env, lesson=lesson)
            given = same(lesson, number, folder / f"class-{count}", built=True) if built else folder / "class"
            cores = ",".join(map(str, range(count))) if backend == "simt" else ""
            run: dict[str, Any] = {}
            for kind in ("_cached",) if built else ("", "_cached"):
                out = folder / f"results-{count}{kind}"
                rows, took, first, going = grade(given, out, backend, count, env, cores, lesson)
                assert len(rows) == number
                run |= {f"seconds{kind}": round(took, 1), f"seconds_each{kind}": round(took / number, 2)}
                run |= {
                    f"going_seconds_each{kind}": round(going, 2),
                    f"first_verdict_seconds{kind}": round(first, 1),
                }
            run["statuses"] = dict(Counter(klass.status(row["checks"]) for row in rows))
            runs[str(count)] = run
            print(count, run, flush=True)
    slowest = runs[str(min(counts))]
    kinds = [
        kind
        for kind in slowest
        if kind.startswith(("seconds", "going")) and not kind.startswith("seconds_each")
    ]
    times = {
        kind: {k: round(slowest[kind] / v[kind], 2) for k, v in runs.items() if kind in v} for kind in kinds
    }
    return {"runs": runs, "times_as_fast": times}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--hostile", type=int, default=50)
    parser.add_argument("--backend", default="simt")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--speed", default="", help="numbers of workers to compare: 1,2,4")
    parser.add_argument("--lesson", default=LESSON, help="with --speed")
    parser.add_argument("--built", action="store_true", help="with --lesson: nothing is left to build")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    made = klass.make(options.count, options.hostile, kernels=bool(options.speed))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if options.lesson == LESSON:
            klass.write(made, folder / "class")
        else:
            same(options.lesson, options.count, folder / "class", built=options.built)
        if options.speed:
            counts = [int(x) for x in options.speed.split(",")]
            result = speeds(
                folder, options.backend, counts, options.count,
                built=options.built, lesson=options.lesson,
            )  # fmt: skip
        else:
            result = whole(made, folder, options.backend, options.workers)
    result |= {
        "command": "python benchmarks/batch_class.py " + " ".join(a for a in sys.argv[1:] if "json" not in a),
        "date": time.strftime("%Y-%m-%d"), "backend": options.backend, "device": gpu_name() or "cpu",
        "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
        "versions": {name: version(name) for name in ("torch", "distributed")},
    }  # fmt: skip
    print(json.dumps(result, indent=1))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")
    sys.exit(1 if result.get("wrong") else 0)


if __name__ == "__main__":
    main()
