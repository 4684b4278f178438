"""The rungs before the course's own referee: checked, and raced with their peers; a model at a time."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from concurrent import futures
from typing import TYPE_CHECKING, Any

from benchmarks.ladder_parts.files import ROOT, TF32_ALLOWED, candidates

if TYPE_CHECKING:
    from pathlib import Path

CHECKED = (300, 1000, 700)
SECONDS = 285.0  # of a race: two of them in one loan of ten minutes
PATIENCE = 30.0
TEXT = 3000


def part_check(folder: Path, model: str) -> dict[str, Any]:
    """Each rung before the referee, unkind inputs included; four at a time."""
    reference, files = candidates(folder / "check" / model, model, CHECKED)
    files = {label: file for label, file in files.items() if label != TF32_ALLOWED}

    def one(file: Path) -> dict[str, Any]:
        at = file.with_suffix(".json")
        command = [sys.executable, "-m", "grader", "check", "--reference", str(reference), str(file)]
        command += ["--backend", "cuda", "--json", str(at)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if not at.exists():
            return {"status": "no verdict", "says": (done.stdout + done.stderr)[-800:]}
        verdict = json.loads(at.read_text("utf-8"))
        checks = {c["id"]: c["status"] for c in verdict["findings"]}
        return {"status": verdict["status"], "checks": checks} | said(verdict)

    with futures.ThreadPoolExecutor(4) as pool:
        names = [f"{model} / {label}" for label in files]
        return dict(zip(names, pool.map(one, files.values()), strict=True))


def said(verdict: dict[str, Any]) -> dict[str, str]:
    """Of a verdict that is not passed: the first finding's words, the exception's, what was printed."""
    bad = next((f for f in verdict["findings"] if f["status"] not in ("passed", "not_run")), None)
    if bad is None:
        return {}
    evidence = bad.get("evidence") or {}
    found = {
        "message": bad["message"],
        "text": str(evidence.get("text") or evidence.get("log") or "")[:TEXT],
        "printed": str(verdict.get("output") or "")[-TEXT:],
    }
    return {key: text for key, text in found.items() if text}


def part_race(folder: Path, model: str) -> dict[str, Any]:
    """``course compare`` of all candidates in one interleaved run; a sentence where that did not end."""
    reference, files = candidates(folder / "race" / model, model)
    return {model: raced(folder, model, reference, list(files.values()))}


def raced(
    folder: Path, model: str, reference: Path, files: list[Path], backend: str = "cuda"
) -> dict[str, Any] | str:
    """What ``compare`` found; where it did not end, what it said. Both are in the logs."""
    at, log = folder / f"race_{model}.json", folder / f"race_{model}.txt"
    command = [sys.executable, "-m", "grader", "compare", *map(str, files), "--reference", str(reference)]
    command += ["--backend", backend, "--json", str(at)]
    with log.open("w") as words:
        ended = run(command, words.fileno())
    found = json.loads(at.read_text("utf-8")) if at.exists() else {"complete": False, "candidates": []}
    report(model, found)
    if found["complete"]:
        return dict(found)
    (folder / f"race_{model}_unfinished.txt").write_text(json.dumps(found, indent=1), "utf-8")
    judged = f"{len(found['candidates'])} of {len(files)} were judged"
    tail = log.read_text("utf-8", errors="replace")[-TEXT:]
    return f"It {'ended early' if ended else f'was stopped after {SECONDS:.0f} s'}; {judged}. It said: {tail}"


def run(command: list[str], words: int, seconds: float = SECONDS) -> bool:
    """Whether it ended by itself; else it is interrupted, so that it ends its own processes."""
    process = subprocess.Popen(command, cwd=ROOT, stdout=words, stderr=words)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
        return True
    process.send_signal(signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(PATIENCE)
        return False
    process.kill()
    process.wait()
    return False


def report(model: str, found: dict[str, Any]) -> None:
    """Where the time went, and why a candidate has no speed."""
    print(f"{model}: {rounded(found.get('stages') or {})}", flush=True)
    for one in found["candidates"]:
        verdict = one["verdict"]
        speed = verdict.get("speed") or {}
        why = said(verdict).get("message") or speed.get("why", "")
        took = rounded(one.get("stages") or verdict.get("stages") or {})
        print(f"  {one['name']}: {verdict['status']}, ratio {one['ratio']}, {took} {why[:300]}", flush=True)


def rounded(stages: dict[str, float]) -> str:
    """``build 38.2, parts 12.0``; what took less than a twentieth of a second is left out."""
    return ", ".join(f"{name} {seconds:.1f}" for name, seconds in stages.items() if seconds >= 0.05)
