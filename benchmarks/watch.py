"""How long a student waits in ``course watch``: from saving lesson 03 to the first word, and to the verdict.

    python benchmarks/watch.py [--runs 5] [--json benchmarks/results/watch.json]

The watch runs without a terminal and prints line after line; the time is from the save to the line.
Also measured: ``course list`` and ``course`` alone, as new processes.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOLUTION = (ROOT / "solutions" / "03_square_kernel" / "solution.py").read_text()
TARGETS = {
    "first word after a save": 0.5,
    "verdict, CUDA source edited": 2.5,
    "verdict, unchanged": 1.0,
    "course list": 0.5,
    "course": 0.5,
}


def until(watch: subprocess.Popen[str], word: str) -> float:
    """Read its lines up to one with ``word``; the time at which it came."""
    assert watch.stdout is not None
    while line := watch.stdout.readline():
        if word in line:
            return time.perf_counter()
    sys.exit("the watch has ended early")


def save(file: Path, watch: subprocess.Popen[str], number: int | None) -> tuple[float, float]:
    """Seconds to the first word and to the verdict after one save; with a number the CUDA source is new."""
    text = SOLUTION if number is None else SOLUTION.replace(
        "__global__", f"// edit {time.time_ns()} {number}\n__global__", 1
    )  # fmt: skip
    begun = time.perf_counter()
    file.write_text(text)
    first = until(watch, "look:")
    return first - begun, until(watch, "This lesson is done.") - begun


def measure(runs: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in TARGETS}
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {"COURSE_WORK": folder, "PYTHONUNBUFFERED": "1"}
        file = Path(folder) / "03_square_kernel.py"
        file.write_text(SOLUTION)
        command = [sys.executable, "-m", "grader", "watch", "03", "--backend", "simt"]
        with subprocess.Popen(command, env=env, cwd=ROOT, stdout=subprocess.PIPE, text=True) as watch:
            until(watch, "This lesson is done.")
            save(file, watch, -1)
            save(file, watch, None)
            for number in range(runs):
                first, whole = save(file, watch, number)
                times["first word after a save"].append(first)
                times["verdict, CUDA source edited"].append(whole)
            save(file, watch, None)
            for _ in range(runs):
                first, whole = save(file, watch, None)
                times["first word after a save"].append(first)
                times["verdict, unchanged"].append(whole)
            watch.send_signal(signal.SIGINT)
        for words in (["list"], []):
            for _ in range(runs):
                begun = time.perf_counter()
                subprocess.run(
                    [sys.executable, "-m", "grader", *words],
                    env=env,
                    cwd=ROOT,
                    stdout=subprocess.DEVNULL,
                    check=True,
                )
                times[" ".join(["course", *words])].append(time.perf_counter() - begun)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    times = measure(options.runs)
    print(f"{'course watch, lesson 03':<32}{'median':>9}{'worst':>9}{'target':>9}")
    for name, seconds in times.items():
        print(f"{name:<32}{statistics.median(seconds):>8.2f}s{max(seconds):>8.2f}s{TARGETS[name]:>8.1f}s")
    print("An edit costs its compilation; everything else waits for the players, which are forked warm.")
    if options.json:
        facts = {"machine": platform.machine(), "cores": os.cpu_count(), "python": platform.python_version()}
        command = "python benchmarks/watch.py"
        options.json.write_text(
            json.dumps({"command": command, **facts, "targets": TARGETS, "seconds": times}, indent=2)
        )


if __name__ == "__main__":
    main()
