"""The rungs before the course's own referee: checked, and raced with their peers."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent import futures
from pathlib import Path
from typing import Any

from benchmarks.ladder_parts.files import MODELS, ROOT, candidates


def part_check(folder: Path) -> dict[str, Any]:
    """Each rung before the referee, both models, unkind inputs and memory included; four at a time."""
    jobs: dict[tuple[str, str], tuple[Path, Path]] = {}
    for model in MODELS:
        reference, files = candidates(folder / "check" / model, model, (300, 1000, 700))
        jobs |= {
            (model, label): (reference, file) for label, file in files.items() if "TF32 allowed" not in label
        }

    def one(job: tuple[Path, Path]) -> dict[str, Any]:
        at = job[1].with_suffix(".json")
        command = [
            sys.executable,
            "-m",
            "grader",
            "check",
            "--reference",
            str(job[0]),
            str(job[1]),
            "--backend",
            "cuda",
        ]
        done = subprocess.run(
            [*command, "--json", str(at)], cwd=ROOT, capture_output=True, text=True, check=False
        )
        if not at.exists():
            return {"status": "no verdict", "says": (done.stdout + done.stderr)[-800:]}
        verdict = json.loads(at.read_text("utf-8"))
        return {
            "status": verdict["status"],
            "checks": {c["id"]: c["status"] for c in verdict.get("checks", verdict.get("findings", []))},
        }

    with futures.ThreadPoolExecutor(4) as pool:
        return {" / ".join(key): got for key, got in zip(jobs, pool.map(one, jobs.values()), strict=True)}


def part_race(folder: Path) -> dict[str, Any]:
    """``course compare`` of all candidates in one interleaved run, for both models."""
    found = {}
    for model in MODELS:
        reference, files = candidates(folder / "race" / model, model)
        at = folder / f"race_{model}.json"
        command = [
            sys.executable,
            "-m",
            "grader",
            "compare",
            *map(str, files.values()),
            "--reference",
            str(reference),
        ]
        command += ["--backend", "cuda", "--json", str(at)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        (folder / f"race_{model}.txt").write_text(done.stdout + done.stderr, "utf-8")
        found[model] = (
            json.loads(at.read_text("utf-8")) if at.exists() else (done.stdout + done.stderr)[-2000:]
        )
        print(model, found[model] if isinstance(found[model], str) else "raced", flush=True)
    return found
