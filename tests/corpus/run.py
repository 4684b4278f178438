"""Grade the whole corpus, several times if wanted, and keep what became of every file.

    python -m tests.corpus.run [--runs 3] [--json FILE] [--only WORD,WORD] [--gpu] [--shared] [--seats N]
        [--waiting] [--build ordinary] [--gpus 3]

Two gradings run at a time; with ``--gpu``, which takes the files that only a GPU can judge, four. With
``--gpu --shared`` it takes the CPU back end's files to the GPU: there it only counts whether a cheat was
caught, by whatever status, and an honest file passed, for a GPU has other means. With ``--waiting`` each
file is played by a player that waited for it, and it is an error if there is none. ``--build ordinary``
leaves the building on a GPU to PyTorch: as each file must get exactly its status, a run of each compares
the verdicts of both builds. ``--gpus N``: N runs at once, each on one of the first N GPUs. Exit code 1 when
a file did not get exactly its expected status, or when two runs differ.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import queue
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from filelock import FileLock, Timeout

from grader.backends.detect import gpu_name
from grader.domain.cache import cache_folder
from grader.domain.options import BUILDS
from grader.domain.speed import NoSpeed, Speed
from grader.domain.verdict import Status
from tests.corpus import entries
from tests.corpus.grading import Result, grade

if TYPE_CHECKING:
    from collections.abc import Callable

SEATS = {"simt": 2, "cuda": 4}


def desk(backend: str) -> tuple[str, FileLock]:
    """A name for the folder where files are graded that no other run uses while the lock lives.

    The first such, so that what was built there before need not be built again.
    """
    for number in itertools.count():
        name = f"{backend}-{number}" if number else backend
        place = cache_folder() / "corpus" / f"{name}.lock"
        place.parent.mkdir(parents=True, exist_ok=True)
        with suppress(Timeout):
            (lock := FileLock(place, thread_local=False)).acquire(timeout=0)
            return name, lock
    raise AssertionError("numbers do not end")


def run(
    files: list[entries.Entry],
    backend: str,
    place: str,
    count: int,
    keep: Callable[[dict[str, Any]], None],
    *,
    waiting: bool = False,
    shared: bool = False,
    build: str = "fast",
) -> dict[str, Any]:
    """Grade all files once, at desks of that ``place``; ``keep`` is given the records so far after each."""
    seats: queue.Queue[str] = queue.Queue()
    for seat in range(count):
        seats.put(f"{place}-{seat}")

    def one(entry: entries.Entry) -> tuple[Result, float]:
        seat, begun = seats.get(), time.monotonic()
        try:
            players: Literal["started", "waiting"] = "waiting" if waiting else "started"
            graded = grade(entry, backend, seat, players=players, build=build)
            return graded, time.monotonic() - begun
        finally:
            seats.put(seat)

    records: dict[str, Any] = {}
    keep(records)
    with ThreadPoolExecutor(count) as pool:
        for done in as_completed([pool.submit(one, entry) for entry in files]):
            result, seconds = done.result()
            records[result.entry.name] = record(result, shared=shared) | {"seconds": round(seconds, 2)}
            if not records[result.entry.name]["as_expected"]:
                print(f"{result.entry.name}: {records[result.entry.name]}", flush=True)
            keep(records)
    return {entry.name: records[entry.name] for entry in files}


def record(result: Result, *, shared: bool = False) -> dict[str, Any]:
    """What is kept of a result; ``shared``: of a file whose expected status is the other back end's."""
    entry, verdict = result.entry, result.verdict
    alike = (result.status is Status.PASSED) == (entry.expected is Status.PASSED) and not result.left
    right = alike if shared else result.as_expected
    return {
        "class": entry.kind, "expected": str(entry.expected), "status": str(result.status),
        "points": f"{verdict.points}/{verdict.max_points}", "as_expected": right,
        "check": result.first.id if result.first else "",
        "message": result.first.message[:300] if result.first and not right else "",
        "left": list(result.left), "speed": _speed(verdict.speed),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--shared", action="store_true", help="with --gpu: the CPU back end's files")
    parser.add_argument("--waiting", action="store_true", help="by players that wait")
    parser.add_argument("--gpus", type=int, default=0, help="runs at once, each on a GPU of its own")
    parser.add_argument("--build", choices=BUILDS, default="fast", help="by whom CUDA is built on a GPU")
    parser.add_argument("--seats", type=int, default=0, help="gradings at a time")
    options = parser.parse_args()
    if options.gpus:
        sys.exit(at_once(options.gpus, options.json))
    backend = "cuda" if options.gpu else "simt"
    every = entries.every(gpu=options.gpu and not options.shared)
    files = [e for e in every if any(w in e.name for w in options.only.split(","))]
    (place, _lock), runs = desk(backend), list[dict[str, Any]]()
    for number in range(options.runs):
        begun, used = time.monotonic(), _used()
        runs.append({})

        def keep(records: dict[str, Any], begun: float = begun, used: float = used) -> None:
            wrong = sorted(n for n, r in records.items() if not r["as_expected"])
            runs[-1] = {
                "seconds": round(time.monotonic() - begun, 1), "cpu_seconds": round(_used() - used, 1),
                "wrong": wrong, "files": records,
            }  # fmt: skip
            if options.json:
                options.json.write_text(json.dumps(_whole(runs, options.runs, backend), indent=1) + "\n")

        seats = options.seats or SEATS[backend]
        run(
            files, backend, place, seats, keep,
            waiting=options.waiting, shared=options.shared, build=options.build,
        )  # fmt: skip
        one = runs[-1]
        print(f"run {number + 1}: {len(one['files'])} of {len(files)} files, {len(one['wrong'])} not as "
              f"expected, {one['seconds']} s, {one['cpu_seconds']} s of processors", flush=True)  # fmt: skip
    statuses = [{n: r["status"] for n, r in one["files"].items()} for one in runs]
    sys.exit(any(one["wrong"] for one in runs) or any(s != statuses[0] for s in statuses))


def _speed(found: Speed | None) -> str:
    """What was claimed of a file's speed, or why nothing was: on a restless host a cheat may pass without."""
    if found is None or isinstance(found, NoSpeed):
        return found.why if found else ""
    return f"{found.whole_ratio:.3f}" if found.claimed else f"none: {getattr(found, 'why', '')}"


def at_once(gpus: int, json_file: Path | None) -> int:
    """This command without ``--gpus``, on each of so many GPUs; what they say is one file."""
    arguments = list(sys.argv[1:])
    del arguments[(at := arguments.index("--gpus")) : at + 2]
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{gpu}.json" for gpu in range(gpus)]
        started = [
            subprocess.Popen(
                [sys.executable, "-m", "tests.corpus.run", *arguments, "--json", str(file)],
                env=os.environ | {"CUDA_VISIBLE_DEVICES": str(gpu)},
            )
            for gpu, file in enumerate(files)
        ]
        codes = [one.wait() for one in started]
        said = [json.loads(file.read_text()) for file in files if file.exists()]
    if said and json_file:
        whole = said[0] | {"runs": [run for one in said for run in one["runs"]], "at_once": gpus}
        json_file.write_text(json.dumps(whole | {"command": _command()}, indent=1) + "\n")
    return max(codes)


def _command() -> str:
    return " ".join(["python -m tests.corpus.run", *(a for a in sys.argv[1:] if "json" not in a)])


def _whole(runs: list[dict[str, Any]], wanted: int, backend: str) -> dict[str, Any]:
    return {
        "command": _command(),
        "date": time.strftime("%Y-%m-%d"),
        "backend": backend,
        "device": gpu_name() if backend == "cuda" else "",
        "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
        "versions": {"python": platform.python_version(), "torch": version("torch")},
        "runs": runs,
    }


def _used() -> float:
    """Processor seconds of this process and of all that it started and has waited for."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, kinds))


if __name__ == "__main__":
    main()
