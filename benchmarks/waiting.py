"""What players that wait save: an unchanged lesson and a small pair, graded with them and without.

    python benchmarks/waiting.py [--backend B] [--runs 7] [--rest 20] [--problem F] [--only WORD] [--json F]

Each subject is graded in turns: by this process with players that are started, and with players that wait; as
a command of its own, ``course check 03``, without the service and with it; with the service also that lesson
with a changed kernel, a ReLU of 256 x 1024 by itself, and each ``--problem``, a reference by itself. Between
two gradings it rests, so that players are ready again, as they are for somebody who thinks meanwhile; that is
not counted. ``waited`` says how many players of a grading had waited: 2, or the time is that of something
else. Also in the file: the memory of a player that waits, on the host and, by nvidia-smi, on the GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.pairs_set import EVERY  # noqa: E402
from grader.backends import detect  # noqa: E402
from grader.domain import lessons, submission  # noqa: E402
from grader.domain.options import GradingOptions  # noqa: E402
from grader.referee import pipeline  # noqa: E402
from grader.referee.job import Job, lesson_job  # noqa: E402
from grader.referee.pairs import pair_job  # noqa: E402
from grader.referee.process import pool_client  # noqa: E402
from grader.referee.process.pool_client import PoolConnection  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from grader.referee.process.player_start import Started

    Gradings: TypeAlias = dict[str, Callable[[], dict[str, Any]]]

LESSON, PAIR = "03", "layer_norm"


def in_process(job: Job) -> dict[str, Any]:
    """One grading by this process: seconds, its stages, and how many of its players had waited."""
    taken: list[Started | None] = []
    take = PoolConnection.take

    def counted(self: PoolConnection, *given: Any) -> Started | None:
        taken.append(take(self, *given))
        return taken[-1]

    PoolConnection.take = counted  # type: ignore[method-assign]
    begun = time.monotonic()
    try:
        verdict = pipeline.check(job).verdict
    finally:
        PoolConnection.take = take  # type: ignore[method-assign]
    seconds = time.monotonic() - begun
    assert verdict.ok, [f.message for f in verdict.findings if not f.ok]
    return {"seconds": seconds, "stages": verdict.stages, "waited": sum(one is not None for one in taken)}


def by_command(backend: str, word: str, *what: str | Path) -> dict[str, Any]:
    """``course check`` as it is typed, from Enter to the prompt."""
    env = os.environ | {pool_client.VARIABLE: word}
    command = [sys.executable, "-m", "grader", "check", *map(str, what), "--backend", backend]
    begun = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, env=env, check=False, stdout=subprocess.PIPE, text=True)
    seconds = time.monotonic() - begun
    assert not done.returncode, done.stdout
    return {"seconds": seconds}


def edited(backend: str, folder: Path) -> dict[str, Any]:
    """A lesson whose kernel has just been changed, so that it must be built."""
    code = lessons.find(LESSON).solution.read_text()
    mine = folder / "edited.py"
    mine.write_text(code.replace("__global__", f"// change {time.time_ns()}\n__global__", 1))
    return by_command(backend, "1", LESSON, mine)


RELU = """import torch

class {name}(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)

def get_inputs():
    return [torch.randn(256, 1024)]

def get_init_inputs():
    return []
"""


def gradings(backend: str, folder: Path, problems: list[Path]) -> Gradings:
    """What is measured, by name."""
    choice, options = detect.choose(backend), GradingOptions(backend=backend)
    lesson = lessons.find(LESSON)
    pair = next(one for one in EVERY if one.name == PAIR)
    place = pair.write(folder)
    jobs = {
        "lesson": lesson_job(lesson, submission.read(lesson.solution), choice, options),
        "pair": pair_job.job(place / "reference.py", place / "correct.py", choice, options),
    }
    found: Gradings = {}
    for name, job in jobs.items():
        found[f"{name}, players started"] = lambda job=job: in_process(job)  # type: ignore[misc]
        waits = replace(job, pools=pool_client.own())
        found[f"{name}, players wait"] = lambda job=waits: in_process(job)  # type: ignore[misc]
    solution = lessons.find(LESSON).solution
    found["command, without the service"] = lambda: by_command(backend, "0", LESSON, solution)
    found["command, with the service"] = lambda: by_command(backend, "1", LESSON, solution)
    found["command, edited"] = lambda: edited(backend, folder)
    (folder / "relu.py").write_text(RELU.format(name="Model"))
    for problem in (folder / "relu.py", *problems):
        mine = folder / f"mine_{problem.name}"
        mine.write_text(problem.read_text().replace("Model", "ModelNew"))
        found[f"command, {problem.stem}"] = lambda p=problem, m=mine: by_command(  # type: ignore[misc]
            backend, "1", "--reference", p, m
        )
    return found


def measured(
    every: dict[str, Callable[[], dict[str, Any]]], runs: int, rest: float
) -> dict[str, list[dict[str, Any]]]:
    """All of them in turns; each once before, so that everything is built and players wait."""
    times: dict[str, list[dict[str, Any]]] = {name: [] for name in every}
    for number in range(runs + 1):
        for name, grading in every.items():
            result = grading()
            if number:
                times[name].append(result)
            time.sleep(rest)
    return times


def memory() -> dict[str, float]:
    """Of each player that waits, by back end, its own share of the host's memory in MiB; and the GPU's."""
    found: dict[str, float] = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes().split(b"\0")
            share = re.search(r"^Pss:\s+(\d+)", (place / "smaps_rollup").read_text(), re.M)
        except OSError:
            continue
        if b"grader.player" in words and b"--waits" in words and b"bwrap" not in words[0] and share:
            found[words[words.index(b"--backend") + 1].decode()] = round(int(share[1]) / 1024, 1)
    if detect.gpu_name():
        asked = ["nvidia-smi", "--query-compute-apps=pid,used_memory", "--format=csv,noheader"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        found |= {"apps on the GPU": float(len(done.stdout.splitlines()))}
        used = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
        done = subprocess.run(used, capture_output=True, text=True, check=False)
        found |= {"GPU in all": sum(map(float, done.stdout.split()))}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--backend", default="auto", choices=["auto", "cuda", "simt"])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--rest", type=float, default=20.0)
    parser.add_argument("--problem", type=Path, action="append", default=[], help="a reference, by itself")
    parser.add_argument("--only", default="", help="what begins with this")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    backend = detect.choose(options.backend).name
    before = memory()
    with tempfile.TemporaryDirectory() as folder:
        every = gradings(backend, Path(folder), options.problem)
        wanted = {name: grading for name, grading in every.items() if name.startswith(options.only)}
        times = measured(wanted, options.runs, options.rest)
    record = {
        "command": " ".join(["python benchmarks/waiting.py", *(a for a in sys.argv[1:] if "json" not in a)]),
        "date": time.strftime("%Y-%m-%d"), "backend": backend, "device": detect.gpu_name(),
        "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
        "versions": {"python": platform.python_version(), "torch": version("torch")},
        "MiB": {"before": before, "while players wait": memory()},
        "median seconds": {k: round(statistics.median(t["seconds"] for t in v), 2) for k, v in times.items()},
        "gradings": times,
    }  # fmt: skip
    for name, seconds in record["median seconds"].items():  # type: ignore[union-attr]
        worst = max(one["seconds"] for one in times[name])
        waited = sorted({one.get("waited", "-") for one in times[name]}, key=str)
        print(f"{name:34}{seconds:7.2f} s, at most {worst:6.2f} s; players that had waited: {waited}")
    print(record["MiB"])
    if options.json:
        options.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
