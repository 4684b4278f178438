"""Grade the solutions of all lessons and say how long each takes; writes one JSON file.

    python3 benchmarks/solutions.py [--backend simt] [--at-once 2] [--alone 04,07] [--out FILE] [LESSON ...]

Each solution is graded by a command of its own, as a student would, several at once. Those named by
``--alone`` are graded once more afterwards, one after another, because their times count; what was compiled
is kept by then.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from grader.domain import lessons

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 150


def graded(number: str, backend: str, folder: Path) -> dict[str, Any]:
    lesson, target = lessons.find(number), folder / f"{number}.json"
    command = [sys.executable, "-m", "grader", "check", number, str(lesson.solution)]
    command += ["--backend", backend, "--json", str(target)]
    begun = time.monotonic()
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)
        said = (done.stderr or done.stdout)[-500:]
    except subprocess.TimeoutExpired:
        said = f"not finished after {SECONDS} s"
    seconds = round(time.monotonic() - begun, 1)
    if not target.exists():
        return {"lesson": lesson.name, "status": "no verdict", "seconds": seconds, "said": said}
    verdict = json.loads(target.read_text())
    target.unlink()
    open_ = sum(f["max_points"] for f in verdict["findings"] if f["status"].startswith("pending"))
    wrong = [f"{f['id']}: {f['message']}" for f in verdict["findings"]
             if f["status"] != "passed" and not f["status"].startswith("pending")]  # fmt: skip
    return {
        "lesson": lesson.name,
        "status": verdict["status"],
        "points": verdict["points"],
        "pending": open_,
        "max_points": verdict["max_points"],
        "seconds": seconds,
        "stages": verdict["stages"],
        "device": verdict["device"],
        "wrong": wrong,
        "speed": verdict["speed"],
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("lessons", nargs="*")
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--alone", default="")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/solutions.json"))
    chosen = parser.parse_args()
    numbers = chosen.lessons or [lesson.name[:2] for lesson in lessons.every()]
    alone = [n for n in chosen.alone.split(",") if n]
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(chosen.at_once) as pool:
        found = list(pool.map(lambda n: graded(n, chosen.backend, Path(folder)), numbers))
        together = round(time.monotonic() - begun, 1)
        again = {n: graded(n, chosen.backend, Path(folder)) for n in alone}
    found = [again.get(f["lesson"][:2], f) for f in found]
    good = all(f["status"] == "passed" and f["points"] + f["pending"] == f["max_points"] for f in found)
    result = {
        "command": "python3 " + " ".join(["benchmarks/solutions.py", *sys.argv[1:]]),
        "seconds": together,
        "at_once": chosen.at_once,
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "all_right": good,
        "lessons": found,
    }
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    chosen.out.write_text(json.dumps(result, indent=1) + "\n")
    for f in found:
        points = f"{f.get('points')}/{f.get('max_points')}, {f.get('pending')} pending"
        print(
            f"{f['lesson']:22s} {f['status']:14s} {points:20s} {f['seconds']:6.1f} s", *f.get("wrong", [])[:2]
        )
    print(f"{len(found)} solutions, {chosen.at_once} at once: {together} s")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
