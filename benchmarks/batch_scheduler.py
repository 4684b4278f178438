"""The scheduler and the journal without gradings: many tasks that do nothing go through the engine.

    python benchmarks/batch_scheduler.py [--tasks 100000] [--workers 2] [--ahead 200] [--json FILE]

What is measured is everything that a batch does around a grading: orders to Dask, answers back, the
journal's line on the disk (fsync). Memory is that of the client, which has the scheduler in it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from grader.domain.options import GradingOptions  # noqa: E402
from grader.domain.verdict import Status  # noqa: E402
from grader.teaching.batch import journal, machines  # noqa: E402
from grader.teaching.batch.batch_work import Order  # noqa: E402
from grader.teaching.batch.journal import Line  # noqa: E402
from grader.teaching.batch.scheduler import Answer, Engine  # noqa: E402


def nothing(text: str) -> str:
    """A grading that takes no time; its answer is as long as a usual one."""
    return json.dumps({"worker": "dummy", "done": json.loads(text)["key"], "findings": "x" * 4000})


def run(tasks: int, workers: int, ahead: int, folder: Path) -> dict[str, Any]:
    """All tasks; the rate in each tenth, and memory at the end of each."""
    rates: list[float] = []
    memory: list[int] = []
    last, done = time.monotonic(), 0
    with journal.opened(folder / "journal.jsonl") as kept, machines.local("simt", workers) as places:

        def keep(answer: Answer) -> None:
            nonlocal last, done
            key = answer.order.key
            kept.append(
                Line(
                    key=key, subject=key, status=Status.PASSED, earned=20, max_points=20, open=0, checks=(),
                    first="", seconds=0.0, backend="simt", device="", speed=None,
                )
            )  # fmt: skip
            done += 1
            if done % max(1, tasks // 10) == 0:
                now = time.monotonic()
                rates.append(round(max(1, tasks // 10) / (now - last), 1))
                memory.append(round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))
                print(f"{done}: {rates[-1]} a second, {memory[-1]} MiB", flush=True)
                last = now

        simt = GradingOptions(backend="simt")
        orders = (Order(f"k{n:07d}", "03", "v", "x" * 3000, simt) for n in range(tasks))
        begun = last = time.monotonic()
        Engine(places, nothing, ahead=ahead).run(orders, keep)
        seconds = time.monotonic() - begun
    lines = sum(1 for _ in journal.lines(folder / "journal.jsonl"))
    return {
        "tasks": tasks, "journal_lines": lines, "seconds": round(seconds, 1),
        "a_second": round(tasks / seconds, 1),
        "a_second_by_tenth": rates, "peak_mib_by_tenth": memory, "workers": workers, "ahead": ahead,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--ahead", type=int, default=200, help="tasks a worker that wait at the scheduler")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = run(options.tasks, options.workers, options.ahead, Path(folder))
    result |= {
        "command": f"python benchmarks/batch_scheduler.py --tasks {options.tasks}",
        "date": time.strftime("%Y-%m-%d"),
        "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
        "versions": {"python": platform.python_version(), "distributed": version("distributed")},
    }  # fmt: skip
    print(json.dumps(result, indent=1))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
