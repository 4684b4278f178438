"""Grade the whole corpus, several times if wanted, and keep what became of every file.

    python -m tests.corpus.run [--runs 3] [--json FILE] [--only WORD,WORD] [--gpu] [--seats N]

Two gradings run at a time; with ``--gpu``, which takes the files that only a GPU can judge, four. Exit
code 1 when a file did not get exactly its expected status, or when two runs differ.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import queue
import resource
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

from grader.backend import gpu_name
from tests.corpus import entries
from tests.corpus.grading import Result, grade

SEATS = {"simt": 2, "cuda": 4}


def run(files: list[entries.Entry], backend: str, count: int) -> dict[str, Any]:
    """Grade all files once; one record for each, by name."""
    seats: queue.Queue[str] = queue.Queue()
    for seat in range(count):
        seats.put(f"{backend}-{seat}")

    def one(entry: entries.Entry) -> tuple[Result, float]:
        seat, begun = seats.get(), time.monotonic()
        try:
            return grade(entry, backend, seat), time.monotonic() - begun
        finally:
            seats.put(seat)

    records: dict[str, Any] = {}
    with ThreadPoolExecutor(count) as pool:
        for result, seconds in pool.map(one, files):
            records[result.entry.name] = record(result) | {"seconds": round(seconds, 2)}
            if not result.as_expected:
                print(f"{result.entry.name}: {records[result.entry.name]}", flush=True)
    return records


def record(result: Result) -> dict[str, Any]:
    """What is kept of a result."""
    entry, verdict = result.entry, result.verdict
    return {
        "class": entry.kind, "expected": str(entry.expected), "status": str(result.status),
        "points": f"{verdict.points}/{verdict.max_points}", "as_expected": result.as_expected,
        "check": result.first.id if result.first else "",
        "message": result.first.message[:300] if result.first and not result.as_expected else "",
        "left": list(result.left),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--seats", type=int, default=0, help="gradings at a time")
    options = parser.parse_args()
    backend = "cuda" if options.gpu else "simt"
    files = [e for e in entries.every(gpu=options.gpu) if any(w in e.name for w in options.only.split(","))]
    runs: list[dict[str, Any]] = []
    for number in range(options.runs):
        begun, used = time.monotonic(), _used()
        records = run(files, backend, options.seats or SEATS[backend])
        took = {"seconds": round(time.monotonic() - begun, 1), "cpu_seconds": round(_used() - used, 1)}
        runs.append(
            took | {"wrong": sorted(n for n, r in records.items() if not r["as_expected"]), "files": records}
        )
        print(
            f"run {number + 1}: {len(files)} files, {len(runs[-1]['wrong'])} not as expected, {took}",
            flush=True,
        )
        if options.json:
            options.json.write_text(json.dumps(_whole(runs, options.runs, backend), indent=1) + "\n")
    statuses = [{n: r["status"] for n, r in one["files"].items()} for one in runs]
    sys.exit(any(one["wrong"] for one in runs) or any(s != statuses[0] for s in statuses))


def _whole(runs: list[dict[str, Any]], wanted: int, backend: str) -> dict[str, Any]:
    return {
        "command": " ".join(["python -m tests.corpus.run", *(a for a in sys.argv[1:] if "json" not in a)]),
        "date": time.strftime("%Y-%m-%d"),
        "backend": backend,
        "device": gpu_name() if backend == "cuda" else "",
        "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
        "versions": {"python": platform.python_version(), "torch": version("torch")},
        "runs": runs,
    }


def _used() -> float:
    """Processor seconds of this process and of all that it started and has waited for."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, kinds))


if __name__ == "__main__":
    main()
