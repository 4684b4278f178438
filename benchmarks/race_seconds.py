"""How many seconds a timed grading of lesson 03 takes, and of which phases they consist. Needs a GPU.

    python benchmarks/race_seconds.py OUT.json [TIMES] [OTHER_CHECKOUT ...]

The lesson's solution is graded by ``python -m grader check 03 SOLUTION --time``: once so that it is built,
then TIMES times (default 3). Other checkouts of the course take turns with this one, on the same machine. At
last each grades once more with its messages written down, which tell how often each request was made and how
long all of these took together.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LESSON, SOLUTION = "03", Path("solutions/03_square_kernel/solution.py")
KEPT = ("whole_ratio", "interval", "outcome", "rounds", "processes", "compared", "confirmed", "why")
LEAST_S = 0.02  # of requests of one kind, to be listed


def graded(root: Path, *, wire: str = "") -> dict[str, Any]:
    """One grading by the grader of that checkout; ``wire``: a file for its messages."""
    env = os.environ | {"PYTHONPATH": str(root), "COURSE_ROOT": str(root)}
    env |= {"COURSE_WIRE": wire} if wire else {}
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "verdict.json"
        command = [sys.executable, "-m", "grader", "check", LESSON, str(root / SOLUTION), "--time"]
        begun = time.monotonic()
        done = subprocess.run(
            [*command, "--backend", "cuda", "--json", str(target)],
            cwd=root, env=env, capture_output=True, text=True, check=False,
        )  # fmt: skip
        seconds = time.monotonic() - begun
        if not target.exists():
            return {"seconds": round(seconds, 2), "said": (done.stdout + done.stderr)[-2000:]}
        return {"seconds": round(seconds, 2)} | _short(json.loads(target.read_text("utf-8")))


def _short(verdict: dict[str, Any]) -> dict[str, Any]:
    """Of a verdict what is about seconds, and what the race has found."""
    speed = verdict["speed"] or {}
    found: dict[str, Any] = {"status": verdict["status"], "device": verdict["device"]}
    found["stages"] = {name: round(seconds, 3) for name, seconds in verdict["stages"].items()}
    found |= {name: speed.get(name) for name in KEPT}
    if speed.get("interval"):
        low, high = speed["interval"]
        found["half_width"] = round((high - low) / 2 / speed["whole_ratio"], 5)
        found["us"] = [round(speed[name]["median"] * 1e6, 2) for name in ("seconds", "eager_seconds")]
        found["machine"] = speed.get("machine")
    return found


def requests(wire: Path) -> dict[str, list[float]]:
    """Of each kind of request: how many, seconds of all together, and of the longest."""
    asked: dict[int, tuple[str, float]] = {}
    found: dict[str, list[float]] = {}
    for line in wire.read_text("utf-8").splitlines() if wire.exists() else ():
        said = json.loads(line)
        frame = said.get("frame") or {}
        if said.get("from") == "referee" and "do" in frame:
            asked[said["player"]] = " ".join(str(frame[k]) for k in ("do", "step") if k in frame), said["at"]
        elif said["player"] in asked and ("answer" in frame or "error" in frame):
            name, since = asked.pop(said["player"])
            one = found.setdefault(name, [0, 0.0, 0.0])
            passed = said["at"] - since
            one[:] = one[0] + 1, round(one[1] + passed, 4), round(max(one[2], passed), 4)
    return {name: one for name, one in sorted(found.items()) if one[1] >= LEAST_S}


def medians(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Of all gradings of one checkout."""
    right = [row for row in rows if row.get("half_width")]
    if not right:
        return {"gradings": len(rows), "with a speed": 0}
    names = dict.fromkeys(name for row in right for name in row["stages"])
    return {
        "gradings": len(rows),
        "with a speed": len(right),
        "seconds": median(row["seconds"] for row in right),
        "stages": {n: round(median(row["stages"].get(n, 0.0) for row in right), 3) for n in names},
        "ratio": round(median(row["whole_ratio"] for row in right), 4),
        "half width": median(row["half_width"] for row in right),
        "rounds": median(row["rounds"] for row in right),
    }


def main(out: Path, times: int = 3, *others: str) -> None:
    """Grade by turns, print, write after each."""
    roots = {"this": ROOT} | {f"other {n}": Path(other).resolve() for n, other in enumerate(others, 1)}
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in roots}
    result: dict[str, Any] = {
        "command": f"python benchmarks/race_seconds.py OUT.json {times}", "cores": os.cpu_count(),
    }  # fmt: skip
    result["first"] = {name: graded(root) for name, root in roots.items()}
    print(json.dumps(result), flush=True)
    for _ in range(times):
        for name, root in roots.items():
            rows[name].append(graded(root))
            print(name, json.dumps(rows[name][-1]), flush=True)
            result |= {"gradings": rows, "medians": {n: medians(each) for n, each in rows.items()}}
            out.write_text(json.dumps(result, indent=1) + "\n")
    result["requests"] = {}
    for name, root in roots.items():
        with tempfile.TemporaryDirectory() as folder:
            wire = Path(folder) / "wire.jsonl"
            graded(root, wire=str(wire))
            result["requests"][name] = requests(wire)
    print(json.dumps({key: result[key] for key in ("medians", "requests")}, indent=1))
    out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:3]), *sys.argv[3:])
