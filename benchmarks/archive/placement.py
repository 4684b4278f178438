"""How far two processes that time the same kernel lie apart, and what brings them together. Needs a GPU.

    python benchmarks/archive/placement.py OUT.json [PROCESSES] [ROUNDS]

Several players load one file and time the same calls, in turns. Between two blocks nothing changes, or
memory, events, the stream, all of them, or each timed call follows an untimed one. Written for each way: the
spread of the processes' medians (what one pair of processes would be wrong by) and that of blocks within a
process, in microseconds. The constant PROCESS_S of grader/referee/timing/plan.py comes from here.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, pstdev, stdev
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))


from benchmarks.clocks import KERNEL, SPIN  # noqa: E402
from grader.domain import cache, inputs  # noqa: E402
from grader.domain.task import Tensor  # noqa: E402
from grader.protocol import play  # noqa: E402
from grader.referee.process.player_process import Limits, Player  # noqa: E402
from grader.referee.side import Side  # noqa: E402
from grader.referee.timing import gpu_state  # noqa: E402
from grader.referee.timing.contender import Contender  # noqa: E402
from grader.referee.timing.plan import Plan, new_seed  # noqa: E402
from grader.referee.timing.setup import hand_over  # noqa: E402

if TYPE_CHECKING:
    from grader.referee.problem import Value

WAYS = {
    "nothing": (), "memory": ("memory",), "events": ("events",), "stream": ("stream",), "warm": ("warm",),
    "memory, events": ("memory", "events"), "memory, events, warm": ("memory", "events", "warm"),
    "all": ("memory", "events", "stream", "warm"),
}  # fmt: skip
COPY = "\n\ndef work(x):\n    return torch.relu(x)\n"
SUBJECTS = {
    "spin, 20 us": (SPIN + KERNEL.format(cycles=36_000), (256, 1024)),
    "relu, 1 MB": ("import torch" + COPY, (256, 1024)),
    "relu, 32 MB": ("import torch" + COPY, (1024, 8192)),
}
PLAN = Plan(4, 20)


def players(file: Path, count: int) -> list[Player]:
    """Started at the same time, with the file loaded."""
    env, limits = cache.extensions(file.read_text()), Limits(start=120, load=200, call=200)
    started = [Player("cuda", limits, sees=(file,), env=env, mode="off") for _ in range(count)]
    for player in started:
        player.ask("load", limits.load, path=str(file))
    return started


def made(player: Player, entry: str) -> Side:
    """The side of a process whose function of that name is called."""
    side = Side("submission", player)
    side.ask(play.Make(entry, play.EMPTY, 0, "", "function"), play.Made)
    return side


def measured(file: Path, shape: tuple[int, ...], count: int, rounds: int) -> dict[str, Any]:
    """Medians of blocks, by way and process."""
    rng, begun = inputs.generator(), time.monotonic()
    everyone = players(file, count)
    try:
        sets: list[list[Value]] = [[inputs.draw(Tensor(shape), rng)] for _ in range(PLAN.sets)]
        tracks = [Contender("mine", made(player, "work")) for player in everyone]
        facts = [hand_over(track, sets, PLAN) for track in tracks]
        times = max(1, round(1.5 * max(f.host_s for f in facts) / facts[0].flush_s))
        blocks: dict[str, list[list[float]]] = {way: [[] for _ in tracks] for way in WAYS}
        for _ in range(rounds):
            for way, fresh in random.sample(sorted(WAYS.items()), len(WAYS)):
                for at in random.sample(range(count), count):
                    order = [int(n) for n in rng.integers(0, PLAN.sets, PLAN.calls)]
                    tracks[at].run_block(order, new_seed(rng), flushes=times, fresh=fresh)
                    blocks[way][at].append(median(tracks[at].blocks.calls[-1]) * 1e6)
        overheads = [f.overhead_s * 1e6 for f in facts]
    finally:
        for player in everyone:
            player.stop()
    ways = {way: spread(found) | {"blocks": found} for way, found in blocks.items()}
    return {"overheads": overheads, "seconds": round(time.monotonic() - begun, 1), "ways": ways}


def spread(blocks: list[list[float]]) -> dict[str, float]:
    """The middle; between processes (less what the blocks' own spread explains); between its blocks."""
    means = [sum(b) / len(b) for b in blocks]
    within = (sum(pstdev(b) ** 2 for b in blocks) / len(blocks)) ** 0.5
    rest = max(0.0, stdev(means) ** 2 - within**2 / len(blocks[0])) ** 0.5
    return {"us": median(means), "between": rest, "within": within}


def main(out: Path, count: int = 8, rounds: int = 10) -> None:
    """Write everything, print what matters."""
    command = " ".join(["python benchmarks/archive/placement.py OUT", *sys.argv[2:]])
    result: dict[str, Any] = {"command": command}
    result |= {"machine": gpu_state.state_json(), "subjects": {}}
    with tempfile.TemporaryDirectory() as folder:
        for name, (text, shape) in SUBJECTS.items():
            file = Path(folder) / "subject.py"
            file.write_text(text)
            result["subjects"][name] = measured(file, shape, count, rounds)
            for way, found in result["subjects"][name]["ways"].items():
                print(f"{name:14} {way:22} {found['us']:8.2f} us, between processes {found['between']:.3f}, "
                      f"between blocks {found['within']:.3f}", flush=True)  # fmt: skip
            out.write_text(json.dumps(result) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:4]))
