"""Every honest file raced against eager PyTorch on a GPU: is one of them accused?

    python -m tests.corpus.timed OUT.json [SECONDS] [--gpus N] [--only WORD,WORD] [--what WORDS] [--forked]

The honest files of both back ends, whatever they do: compile late, sleep, print, use streams, threads and
other processes. First all are graded untimed, many at a time, which compiles them. Then each is graded with a
race, one at a time on each GPU. The file is written after each; SECONDS (default 500) end it early. If there
is a file already, this becomes another run in it; ``--what`` says what has changed since the last one. With
``--forked`` the players of the races are forked, which are there sooner.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.domain.speed import Measured, as_json
from grader.domain.task import Case, Speed, Tensor
from grader.referee.timing import gpu_state
from tests.corpus import entries
from tests.corpus.classes import HONEST
from tests.corpus.grading import grade
from tests.corpus.run import record

if TYPE_CHECKING:
    from queue import Queue


def _speed(side: int, arguments: int = 1, *, init: int = 0, product: bool = False) -> Speed:
    """The race of a task whose arguments and result are square matrices; its model takes ``init`` sizes."""

    def case(name: str, n: int) -> Case:
        return Case(name, (Tensor((n, n)),) * arguments, "", 0, init=(n,) * init)

    full, small = (4 * (arguments + 1) * n**2 for n in (side, 64))
    return Speed(
        case=case("speed, small", 64), full=case("speed", side), eager_bytes=full, fused_bytes=full,
        case_bytes=small, flops=2 * side**3 if product else 0,
    )  # fmt: skip


# Of the tasks that have no race themselves.
SPEEDS = {
    "square": _speed(2048),
    "double": _speed(2048),
    "sigmoid": _speed(2048),
    "steep": _speed(2048),
    "softmax": _speed(2048),
    "rowwise": _speed(2048),
    "swish": _speed(2048, init=1),
    "gemm": _speed(1024, 2, product=True),
    "dense": _speed(1024, init=2, product=True),
}
WORDS = ("kind", "why", "outcome", "whole_ratio", "interval", "rounds", "compared", "confirmed")


def honest(words: str = "") -> list[entries.Entry]:
    """The honest files whose names hold one of the words, in the order of these."""
    listed = [e for e in [*entries.every(gpu=True), *entries.every()] if e.kind == HONEST]
    found = {e.name: e for word in words.split(",") for e in listed if word in e.name}
    return list(found.values())


def one(
    entry: entries.Entry, backend: str = "cuda", *, race: bool = True, forked: bool = False
) -> dict[str, Any]:
    """The record of a file, graded with or without a race, and what the clock said."""
    begun = time.monotonic()
    result = grade(
        entry,
        backend,
        f"timed-{os.getpid()}",
        race=race,
        speed=SPEEDS.get(entry.task),
        players="forked" if forked else "started",
    )
    speed = result.verdict.speed
    found = as_json(speed) if speed else {}
    told = {word: found[word] for word in WORDS if word in found}
    if isinstance(speed, Measured):
        told["median_us"] = round(speed.seconds.median * 1e6, 2)
    return record(result) | {"speed": told, "seconds": round(time.monotonic() - begun, 2)}


def _take(gpus: Queue[int]) -> None:
    """In a worker, at first: a GPU of its own, or its share of one."""
    os.environ["CUDA_VISIBLE_DEVICES"] = str(gpus.get())


def workers(count: int, gpus: int) -> ProcessPoolExecutor:
    """So many processes, spread over so many GPUs."""
    how = multiprocessing.get_context("spawn")
    numbers: Any = how.Queue()
    for k in range(count):
        numbers.put(k % gpus)
    return ProcessPoolExecutor(count, how, _take, (numbers,))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("seconds", type=float, nargs="?", default=500.0)
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--what", default="")
    parser.add_argument("--forked", action="store_true")
    options = parser.parse_args()
    files, begun = honest(options.only), time.monotonic()
    kept: dict[str, Any] = {"untimed": {}, "runs": []}
    if options.out.exists():
        kept = json.loads(options.out.read_text())
    run: dict[str, Any] = {"what": options.what, "date": time.strftime("%Y-%m-%d"), "files": {}}
    state = gpu_state.state_json()
    kept |= {
        "command": f"python -m tests.corpus.timed OUT.json {options.seconds:g} --gpus {options.gpus}"
        + " --forked" * options.forked,
        "date": run["date"], "machine": state, "device": state.get("name", ""),
        "files_in_all": len(honest()),
    }  # fmt: skip
    kept["runs"].append(run)

    def keep(name: str, found: dict[str, Any], where: dict[str, Any]) -> None:
        where[name] = found
        print(f"{time.monotonic() - begun:4.0f} s", name, found["status"], found["message"], found["speed"],
              flush=True)  # fmt: skip
        options.out.write_text(json.dumps(kept, indent=1) + "\n")

    with workers(max(2, (os.cpu_count() or 2) * 7 // 8), options.gpus) as pool:
        asked = {pool.submit(one, entry, race=False): entry.name for entry in files}
        for done in as_completed(asked):
            keep(asked[done], done.result(), kept["untimed"])
    with workers(options.gpus, options.gpus) as pool:
        asked = {pool.submit(one, entry, forked=options.forked): entry.name for entry in files}
        for done in as_completed(asked):
            keep(asked[done], done.result(), run["files"])
            if time.monotonic() - begun > options.seconds:
                pool.shutdown(cancel_futures=True)
                break


if __name__ == "__main__":
    main()
