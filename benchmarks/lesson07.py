"""How long a timed grading of lesson 07 takes, and where the time goes. Needs a GPU.

    python benchmarks/lesson07.py OUT.json [TIMES]

The solution is graded once so that its build is kept, then TIMES times (default 3) by a command of its own,
as a student would, and TIMES times in one process that grades one file after another.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from grader import backend, lessons, submission  # noqa: E402
from grader.check import Job, check  # noqa: E402
from grader.clock import machine  # noqa: E402


def by_command(folder: Path) -> dict[str, Any]:
    """One grading as it is typed."""
    solution, target = lessons.find("07").solution, folder / "verdict.json"
    command = [sys.executable, "-m", "grader", "check", "07", str(solution), "--time", "--json", str(target)]
    begun = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - begun
    if not target.exists():
        return {"seconds": seconds, "said": (done.stdout + done.stderr)[-2000:]}
    return {"whole command": round(seconds, 2)} | _of(json.loads(target.read_text()))


def in_process() -> dict[str, Any]:
    """One grading by this process."""
    lesson = lessons.find("07")
    job = Job(lesson.name, lesson.task, lesson.reference, submission.read(lesson.solution),
              backend.choose("cuda"), with_speed=True)  # fmt: skip
    return _of(check(job).verdict.as_json())


def _of(verdict: dict[str, Any]) -> dict[str, Any]:
    speed = verdict["speed"] or {}
    return {
        "status": verdict["status"], "seconds": verdict["seconds"], "stages": verdict["stages"],
        "ratio": speed.get("whole_ratio"), "interval": speed.get("interval"), "rounds": speed.get("rounds"),
        "wrong": [f"{f['id']}: {f['message'][:300]}" for f in verdict["findings"] if f["status"] != "passed"],
    }  # fmt: skip


def main(out: Path, times: int = 3) -> None:
    """Grade, print, write."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first = by_command(folder)
        print("first", json.dumps(first), flush=True)
        commands = [by_command(folder) for _ in range(times)]
    processes = [in_process() for _ in range(times)]
    for kind, rows in (("command", commands), ("in process", processes)):
        for row in rows:
            print(kind, json.dumps(row), flush=True)
    result = {"command": "python benchmarks/lesson07.py OUT.json", "machine": machine.state(), "first": first,
              "by command": commands, "in process": processes}  # fmt: skip
    out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:3]))
