"""What passes between the calls of a block if a call waits for the device itself. Needs a GPU.

    python benchmarks/archive/between_calls.py OUT.json [BLOCKS]

The player's own loop, in this process, with calls that only work, that wait for the device before or after,
that read a number of the result, give free memory back or collect garbage, or claim half of their time: a
short call, and one of more than 300 us; one at a time, the device waited for after each call or not, and in
rows. Written for each: microseconds a call that its events say, and by how much more the wall clock saw,
block by block; and what the two clocks would say of it beside one that only works.
"""

from __future__ import annotations

import gc
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from grader.player.commands import race_blocks as act  # noqa: E402
from grader.referee.timing import gpu_state  # noqa: E402
from grader.referee.timing.cross_check import Blocks, clock_evidence  # noqa: E402
from grader.referee.timing.plan import FLUSH_BYTES, FRESH  # noqa: E402

CALLS, SETS, TIMES, SIDE = 8, 4, 4, 2048  # what grader.referee.timing.plan makes of that size
Call = Callable[[torch.Tensor], torch.Tensor]
SIZES: dict[str, tuple[Call, tuple[str, ...]]] = {
    "short": (torch.square, FRESH),
    "long": (lambda x: x @ x, ()),
}
PLAIN, ASKED, HALF = "works only", "works only, asked to wait", "works only, claims half"
LENGTH, LEAD = 64, 200e-6  # calls in a row; seconds of work before it, for each
ROW = f"{LENGTH} in a row"
WAYS: dict[str, dict[str, Any]] = {"one at a time": {}, "each waited for": {"drain": True}, ROW: {}}


def kinds(work: Call) -> dict[str, Call]:
    """The same work by calls that do something else as well."""

    def reads(x: torch.Tensor) -> torch.Tensor:
        value = work(x)
        float(value[0, 0])
        return value

    def waits(x: torch.Tensor) -> torch.Tensor:
        value = work(x)
        torch.cuda.synchronize()
        return value

    def gives_back(x: torch.Tensor) -> torch.Tensor:
        torch.cuda.empty_cache()
        return work(x)

    def collects(x: torch.Tensor) -> torch.Tensor:
        gc.collect()
        torch.cuda.empty_cache()
        torch.cuda.synchronize()
        return work(x)

    return {
        PLAIN: work, ASKED: work, HALF: work, "waits": waits, "reads a number": reads,
        "gives memory back": gives_back, "collects garbage, gives memory back, waits": collects,
    }  # fmt: skip


def block(
    timed: act.TimedCalls, fresh: tuple[str, ...], name: str, way: str, busy_work: tuple[int, int]
) -> tuple[list[float], float]:
    """Seconds of each call as it claims, and of the whole block by the wall clock."""
    how: dict[str, Any] = {"flushes": TIMES, "waits": name == ASKED} | WAYS[way]
    if way == ROW:
        how |= {"flushes": 0, "busy_work": busy_work}
    order = [n % SETS for n in range(LENGTH if way == ROW else CALLS)]
    act._prepare(timed, len(order), fresh, busy_work[0] if way == ROW else 0)
    begun = time.monotonic()
    said = act._block(timed, order, random.getrandbits(60), **how)
    return [s / (1 + (name == HALF)) for s in said["seconds"]], time.monotonic() - begun


def main(out: Path, blocks: int = 16) -> None:
    """Blocks of all kinds in turns, for each length of call."""
    gc.collect()
    gc.freeze()  # as a player that was forked from a warm parent
    device = "cuda" if torch.cuda.is_available() else "cpu"
    found: dict[str, dict[str, Any]] = {}
    step = act._busy_work(device)
    busy_work = step["size"], round(LENGTH * LEAD / step["seconds"])
    for size, (work, fresh) in SIZES.items():
        given = [[torch.randn(SIDE, SIDE, device=device)] for _ in range(SETS)]
        flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device=device)
        timed = {name: act.TimedCalls(kind, given, [True], flush) for name, kind in kinds(work).items()}
        seen = {(way, name): Blocks() for way in WAYS for name in timed}
        for number in range(blocks + 1):
            for way, name in random.sample(list(seen), len(seen)):
                said = block(timed[name], fresh, name, way, busy_work)
                if number:  # the first is to get warm
                    seen[way, name].add(*said)
        for (way, name), own in seen.items():
            plain, length = [(own, seen[way, PLAIN])], LENGTH * (way == ROW)
            said = clock_evidence(plain, length=length)
            beside = clock_evidence(plain, [seen[way, ASKED]], length=length)
            word = "accused" if beside.suspicion else "no speed" if not said.clear else "believed"
            found.setdefault(size, {}).setdefault(name, {})[way] = {
                "call_us": [round(s * 1e6, 2) for s in own.claims.tolist()],
                "more_us": [round(s * 1e6, 2) for s in own.gaps.tolist()], "said": word,
            }  # fmt: skip
            us = f"{said.claimed_s * 1e6:8.1f} us and {own.unexplained() * 1e6:8.1f} us"
            print(f"{size:6} {way:29} {name:43} {us}: {word}", flush=True)
    command = " ".join(["python benchmarks/archive/between_calls.py OUT.json", *sys.argv[2:]])
    out.write_text(json.dumps({"command": command, "machine": gpu_state.state_json(), "found": found}) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:3]))
