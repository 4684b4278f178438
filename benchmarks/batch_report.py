"""How long the class reports of many rows take, and how much memory: a made-up journal, real writers.

    python benchmarks/batch_report.py [--rows 10000] [--lessons 1] [--every] [--json FILE] [--keep FOLDER]

With ``--lessons 15 --rows 15000`` it is a term: 1,000 students and 15 lessons in one folder. Every row has a
kept verdict of lesson 03's form with statuses drawn as in a class; a tenth is late, a third has a
measured speed. What is measured is a process of its own that reads the journal and writes the reports.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import msgspec  # noqa: E402

from grader.domain import disk  # noqa: E402
from grader.domain.lessons import find  # noqa: E402
from grader.domain.speed import from_json  # noqa: E402
from grader.domain.verdict import Finding, Status, Verdict  # noqa: E402
from grader.reports import formats  # noqa: E402
from grader.reports.row import LessonFacts, summary  # noqa: E402
from grader.teaching.batch import class_rows, report_files  # noqa: E402
from grader.teaching.batch.batch_plan import Entry, Plan  # noqa: E402
from grader.teaching.batch.journal import Line  # noqa: E402
from grader.teaching.batch.late_policy import Policy  # noqa: E402
from grader.teaching.batch.results_folder import ResultsFolder  # noqa: E402
from tools.result_facts import facts  # noqa: E402

BAD = [Status.WRONG_OUTPUT, Status.ILLEGAL_ACCESS, Status.COMPILE_ERROR, Status.TIMEOUT, Status.NOT_FINITE]


def verdict(draw: random.Random) -> Verdict:
    """One student's verdict: most pass, the others fail in one way and lose some points."""
    lesson = find("03")
    passed, bad = draw.random() < 0.6, draw.choice(BAD)
    cases = [(c.name, c.points) for c in lesson.task.cases] + [("memory", 3)]
    lost = set() if passed else set(draw.sample(range(len(cases)), draw.randint(1, len(cases))))
    found = [Finding("load", Status.PASSED)]
    for k, (name, points) in enumerate(cases):
        wrong = "Element [0, 32] is nan, expected 0.25. Wrong: the last 13 columns."
        found.append(
            Finding(name, bad, wrong, 0, points)
            if k in lost
            else Finding(name, Status.PASSED, "", points, points)
        )
    speed = None
    if passed and draw.random() < 0.5:
        ratio = draw.lognormvariate(0.1, 0.3)
        own, eager = 1e-5, 1e-5 * ratio
        speed = {
            "kind": "measured", "device": "a made-up GPU", "method": "made up", "whole_ratio": ratio,
            "interval": [ratio * 0.95, ratio * 1.05],
            "outcome": "same", "rounds": 6, "compared": 72, "clocks_apart": 0.0, "baselines": {},
            "machine": {},
            "seconds": {"median": own, "p10": own * 0.97, "p90": own * 1.04, "n": 40},
            "eager_seconds": {"median": eager, "p10": eager * 0.97, "p90": eager * 1.04, "n": 40},
        }  # fmt: skip
    return Verdict(lesson.name, "x.py", "cuda", "a made-up GPU", tuple(found), 2.5, speed=from_json(speed))


def make(root: Path, count: int, lessons: int) -> None:
    """A folder of results with that many rows, each of a student and one of the lessons."""
    draw, results = random.Random(8), ResultsFolder(root)
    names = [f"{k:02d}_made_up" for k in range(1, lessons + 1)]
    entries, lines = [], []
    for n in range(count):
        student, lesson = n // lessons, names[n % lessons]
        late = draw.uniform(60, 4e5) if draw.random() < 0.1 else 0.0
        entries.append(
            Entry(
                f"u{student:05d}", lesson, f"Student Number {student}", f"u{student}@x.org",
                "AB"[student % 2], f"Nick {student}" if student % 3 == 0 else "", "x.py", (), late,
                f"s{n}", f"k{n}",
            )
        )  # fmt: skip
        made = verdict(draw)
        data = json.dumps(made.as_json(), allow_nan=False).encode()
        disk.write(results.verdict_path(f"k{n}"), data)
        digest = hashlib.sha256(data).hexdigest()[:16]
        short = msgspec.structs.asdict(summary(made))
        lines.append(Line(key=f"k{n}", subject=f"s{n}", lesson=lesson, digest=digest, **short).text())
    facts = tuple(LessonFacts(name, "A made-up lesson", 20) for name in names)
    plan = Plan(tuple(entries), {}, facts, Policy(0.0, 10.0, 50.0))
    disk.write(results.plan, plan.text("a made-up class"))
    disk.write(results.journal, "\n".join(lines) + "\n")


def measure(root: Path, *, every: bool) -> None:
    """In a process of its own: write the class reports, and say what it took."""
    begun, used = time.perf_counter(), time.process_time()
    results = ResultsFolder(root)
    result = class_rows.collect(results)
    read = time.perf_counter() - begun
    written = report_files.write_class(results, result, tuple(formats.of_class()) if every else ())
    facts = {
        "rows": len(result.rows), "seconds": round(time.perf_counter() - begun, 2),
        "seconds_reading": round(read, 2), "cpu_seconds": round(time.process_time() - used, 2),
        "peak_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "bytes": {p.name: p.stat().st_size for p in written},
    }  # fmt: skip
    print(json.dumps(facts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--lessons", type=int, default=1)
    parser.add_argument("--every", action="store_true", help="also the formats that are written on request")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure, every=options.every)
        return
    with tempfile.TemporaryDirectory() as folder:
        root = options.keep or Path(folder)
        make(root, options.rows, options.lessons)
        load = round(os.getloadavg()[0], 1)
        command = [sys.executable, __file__, "--measure", str(root), *(["--every"] if options.every else [])]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    asked = f"--rows {options.rows} --lessons {options.lessons}{' --every' if options.every else ''}"
    told = facts(f"python benchmarks/batch_report.py {asked}", "matplotlib", "msgspec")
    result = json.loads(done.stdout) | told | {"load": load}
    print(json.dumps(result, indent=1))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
