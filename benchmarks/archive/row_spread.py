"""How far do rows of calls of honest processes lie apart on the referee's clock? Needs a GPU.

    python benchmarks/archive/row_spread.py OUT.json [PROCESSES] [ROWS]

Several processes make rows of the same calls, each in its turn, as in a race: memory and events moved about
before each, work that can be checked at its beginning, 32 calls. A short call that only works, three
launches, one that keeps the host busy, one that returns the same memory each time, a product, a tiny and a
large one; and such as wait for the device, which the witness cannot tell from hidden work. Written for each:
microseconds a row that the wall clock saw and the events do not hold, row by row; whether the device was
still behind when the last call had been asked for is to be seen by that it hardly varies.

Of each two processes: by how much the quietest tenth of one's rows goes beyond the upper quartile of the
other's. ``BLOCK_SLACK_S`` in :mod:`grader.referee.timing.cross_check` is several times the worst of those.
"""

from __future__ import annotations

import gc
import itertools
import json
import multiprocessing
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from grader.player.commands import race_blocks as act  # noqa: E402
from grader.referee.timing import gpu_state  # noqa: E402
from grader.referee.timing.plan import FLUSH_BYTES, FRESH  # noqa: E402

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

SETS, CALLS, LEAD = 8, 64, 200e-6
Call = Callable[[torch.Tensor], torch.Tensor]
WAITING = ("waits", "reads a number")


def kinds() -> dict[str, tuple[Call, int]]:
    """Calls, and the side of the square matrix that they get."""
    rooms: dict[int, torch.Tensor] = {}

    def busy(x: torch.Tensor) -> torch.Tensor:
        begun = time.perf_counter()
        while time.perf_counter() - begun < 100e-6:
            pass
        return torch.square(x)

    def same(x: torch.Tensor) -> torch.Tensor:
        room = rooms.setdefault(len(x), torch.empty_like(x))
        return torch.square(x, out=room)

    def waits(x: torch.Tensor) -> torch.Tensor:
        value = torch.square(x)
        torch.cuda.synchronize()
        return value

    def reads(x: torch.Tensor) -> torch.Tensor:
        value = torch.square(x)
        float(value[0, 0])
        return value

    return {
        "one launch": (torch.square, 2048), "three launches": (lambda x: torch.relu(2 * x + 1), 2048),
        "a busy host": (busy, 2048), "the same memory": (same, 2048), "a product": (lambda x: x @ x, 512),
        "tiny": (torch.square, 128), "large": (torch.square, 4096), "waits": (waits, 2048),
        "reads a number": (reads, 2048),
    }  # fmt: skip


def player(line: Connection) -> None:
    """A process: answers the seconds that its calls claim."""
    gc.collect()
    gc.freeze()
    device = "cuda"
    flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device=device)
    tracks = {}
    for name, (call, side) in kinds().items():
        given = [[torch.randn(side, side, device=device)] for _ in range(SETS if side < 4096 else 3)]
        tracks[name] = act.TimedCalls(call, given, [True], flush)
    line.send(act._busy_work(device))
    while (asked := line.recv()) is not None:
        step, name, fields = asked
        track = tracks[name]
        if step == "prepare":
            track.flush = flush
            line.send(act._prepare(track, **fields))
            flush = track.flush
            for other in tracks.values():
                other.flush = flush
                if other is not track:  # memory for one at a time
                    other.sets, other.factors, other.copies, other.results = [], [], [], []
            continue
        order = [n % len(track.sets) for n in range(fields.pop("calls"))]
        line.send(act._block(track, order, **fields)["seconds"])


def main(out: Path, processes: int = 6, rows: int = 8) -> None:
    """Rows of all kinds, all processes in turns."""
    how = multiprocessing.get_context("spawn")
    lines: list[Any] = []
    for _ in range(processes):
        ours, theirs = how.Pipe()
        how.Process(target=player, args=(theirs,), daemon=True).start()
        lines.append(ours)
    step, *_ = [line.recv() for line in lines]
    found: dict[str, Any] = {
        name: {"calls": CALLS if side < 4096 else 16, "claim_us": [], "more_us": [[] for _ in lines]}
        for name, (_, side) in kinds().items()
    }
    for turn in range(rows + 1):
        for name in random.sample(list(found), len(found)):
            one = found[name]
            lead = step["size"], round(one["calls"] * LEAD / step["seconds"])
            seed = random.getrandbits(60)
            for number in random.sample(range(processes), processes):
                line = lines[number]
                line.send(("prepare", name, {"calls": one["calls"], "fresh": FRESH, "busy_work": lead[0]}))
                line.recv()
                begun = time.monotonic()
                line.send(("block", name, {"calls": one["calls"], "seed": seed, "busy_work": lead}))
                claims = line.recv()
                wall = time.monotonic() - begun
                if turn:  # the first is to get warm
                    one["claim_us"].append(round(1e6 * float(np.median(claims)), 2))
                    one["more_us"][number].append(round(1e6 * (wall - sum(claims)), 1))
    for line in lines:
        line.send(None)
    for name, one in found.items():
        apart = [
            np.quantile(a, 0.1, method="lower") - np.quantile(b, 0.75)
            for a, b in itertools.permutations(one["more_us"], 2)
        ]
        one |= {"waits": name in WAITING, "worst_us": round(float(max(apart)), 1)}
        middle = [float(np.median(each)) for each in one["more_us"]]
        more = f"{min(middle):8.1f} to {max(middle):8.1f} us, worst {one['worst_us']:6.1f} us"
        print(f"{name:16} {np.median(one['claim_us']):7.2f} us, {one['calls']:2} in a row: {more}")
    command = " ".join(["python benchmarks/archive/row_spread.py OUT.json", *sys.argv[2:]])
    written = {"command": command, "machine": gpu_state.state_json(), "step": step, "found": found}
    out.write_text(json.dumps(written) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:4]))
