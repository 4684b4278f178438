"""The same 20 files graded again and again: does any grade change? Points for speed need a GPU.

    python benchmarks/regrade.py OUT.json [TIMES] [SECONDS] [BACKEND]

Solutions, their alternatives and wrong versions of lessons 03, 07, 08 and 13; those of lesson 13 have points
for speed and are graded alone, the others several at a time, each by a command of its own. The same command
goes on with a run that ended for want of time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from grader import lessons  # noqa: E402
from grader.clock import machine  # noqa: E402
from grader.dev import mutants  # noqa: E402

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


def grade(number: str, file: Path, backend: str) -> dict[str, Any]:
    """Status, points and findings of one grading."""
    target = file.with_suffix(f".{time.monotonic_ns()}.json")
    command = [sys.executable, "-m", "grader", "check", number, str(file)]
    command += ["--backend", backend, "--json", str(target)]
    begun = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    seconds = round(time.monotonic() - begun, 1)
    if not target.exists():
        return {"status": "no verdict", "said": (done.stdout + done.stderr)[-300:], "seconds": seconds}
    verdict = json.loads(target.read_text())
    target.unlink()
    checks = {f["id"]: [f["status"], f["points"]] for f in verdict["findings"]}
    ratios = [f["evidence"].get("ratio") for f in verdict["findings"] if f["id"] == "ratio"]
    return {"status": verdict["status"], "points": verdict["points"], "checks": checks, "ratio": ratios,
            "seconds": seconds}  # fmt: skip


def main(out: Path, times: int = 10, seconds: float = 500.0, backend: str = "cuda") -> None:
    """Round after round, so that a run that is cut short has graded every file equally often."""
    kept: dict[str, Any] = json.loads(out.read_text()) if out.exists() else {"files": {}}
    kept |= {"command": f"python benchmarks/regrade.py OUT.json {times}", "machine": machine.state()}
    ends, slowest = time.monotonic() + seconds, 0.0
    with tempfile.TemporaryDirectory() as folder:
        everything = files(Path(folder))
        for _ in range(times):
            left = [(n, f) for n, f in everything if len(kept["files"].get(f.stem, [])) < times]
            if not left or time.monotonic() + slowest > ends:
                break
            begun = time.monotonic()
            with ThreadPoolExecutor(max(2, (os.cpu_count() or 2) // 3)) as pool:
                jobs = {f.stem: pool.submit(grade, n, f, backend) for n, f in left if n != TIMED}
                done = {name: job.result() for name, job in jobs.items()}
            done |= {f.stem: grade(n, f, backend) for n, f in left if n == TIMED}
            for name, one in done.items():
                kept["files"].setdefault(name, []).append(one)
            slowest = max(slowest, time.monotonic() - begun)
            kept["summary"] = summary(kept["files"])
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
    main(Path(sys.argv[1]), int(rest[0]) if rest else 10, float(rest[1]) if len(rest) > 1 else 500.0,
         rest[2] if len(rest) > 2 else "cuda")  # fmt: skip
