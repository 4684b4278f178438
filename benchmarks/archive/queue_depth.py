"""Does a launch take longer while more work waits in the device's queue? Needs a GPU.

    python benchmarks/archive/queue_depth.py OUT.json [BLOCKS]

A block is 20 calls of a kernel that spins for about 18 us; before each the cache is overwritten. Either all
are asked for at once, and the device works them off, or each is waited for before the next is asked for.
Written for each way: the time between two events around each call, by its place in the block. If what waits
behind a call did not matter, the last of a block would take as long as the first.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from statistics import median
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from grader.referee.timing import gpu_state  # noqa: E402
from grader.referee.timing.plan import FLUSH_BYTES  # noqa: E402

CALLS, FLUSHES, CYCLES = 20, 3, 36_000
Events = list[tuple[Any, Any]]


def block(events: Events, flush: torch.Tensor, *, waiting: bool) -> list[float]:
    """Microseconds of each call; ``waiting``: for the device, before the next call is asked for."""
    torch.cuda.synchronize()
    for before, after in events:
        for _ in range(FLUSHES):
            flush.zero_()
        before.record()
        torch.cuda._sleep(CYCLES)
        after.record()
        if waiting:
            torch.cuda.synchronize()
    torch.cuda.synchronize()
    return [round(before.elapsed_time(after) * 1e3, 3) for before, after in events]


def main(out: Path, blocks: int = 40) -> None:
    """Blocks of both kinds in turns; print the median by place."""
    event: Any = torch.cuda.Event
    events = [(event(enable_timing=True), event(enable_timing=True)) for _ in range(CALLS)]
    flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
    ways: dict[str, list[list[float]]] = {"all at once": [], "one at a time": []}
    for way in ways:  # warm
        block(events, flush, waiting=way != "all at once")
    for _ in range(blocks):
        for way in random.sample(sorted(ways), len(ways)):
            ways[way].append(block(events, flush, waiting=way != "all at once"))
    command = " ".join(["python benchmarks/archive/queue_depth.py OUT.json", *sys.argv[2:]])
    out.write_text(json.dumps({"command": command, "machine": gpu_state.state_json(), "us": ways}) + "\n")
    for way, found in ways.items():
        places = [median(calls[k] for calls in found) for k in range(CALLS)]
        print(f"{way:14}", *(f"{us:.2f}" for us in places), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:3]))
