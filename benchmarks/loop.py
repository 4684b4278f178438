"""How long a student waits: lesson 03 from saved file to verdict, all checks on, as a new process each time.

    python benchmarks/loop.py [--first] [--runs 5] [--json benchmarks/results/loop.json]

``--first`` starts from an empty cache, which also measures the one-time set-up. Every run is
``python -m grader check 03 FILE``; the JSON has each single time.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOLUTION = ROOT / "solutions" / "03_square_kernel" / "solution.py"
TARGETS = {"first ever": 60.0, "CUDA source edited": 3.0, "unchanged": 1.5}


def check(file: Path, env: dict[str, str]) -> float:
    begun = time.perf_counter()
    command = [sys.executable, "-m", "grader", "check", "03", str(file), "--backend", "simt"]
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"the solution did not pass:\n{done.stdout}{done.stderr}")
    return time.perf_counter() - begun


def edit(file: Path, number: int) -> None:
    """Change the CUDA source so that no cache knows it: another, equally right, expression."""
    text = SOLUTION.read_text()
    changed = text.replace("__global__", f"// edit {time.time_ns()} {number}\n__global__", 1)
    assert changed != text
    file.write_text(changed)


def measure(runs: int, *, first: bool) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        file, env = Path(folder) / "mine.py", dict(os.environ)
        file.write_text(SOLUTION.read_text())
        if first:
            env["COURSE_CACHE"] = str(Path(folder) / "cache")
            times["first ever"] = [check(file, env)]
        check(file, env)
        times["unchanged"] = [check(file, env) for _ in range(runs)]
        times["CUDA source edited"] = []
        for number in range(runs):
            edit(file, number)
            times["CUDA source edited"].append(check(file, env))
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    times = measure(options.runs, first=options.first)
    print(f"{'lesson 03, saved file to verdict':34} {'median':>8} {'worst':>8} {'target':>8}")
    for name, seconds in times.items():
        row = f"{statistics.median(seconds):7.2f}s {max(seconds):7.2f}s {TARGETS[name]:7.0f}s"
        print(f"{name:34} {row}")
    if options.json:
        from importlib.metadata import version

        record = {
            "command": "python benchmarks/loop.py --first",
            "date": time.strftime("%Y-%m-%d"),
            "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
            "versions": {"python": platform.python_version(), "torch": version("torch")},
            "seconds": times,
            "targets": TARGETS,
        }
        options.json.write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
