"""Does a kernel's time depend on what its process did before, or on which process was started first?

Needs a GPU.

    python benchmarks/archive/roles.py OUT.json [PAIRS] [ROUNDS]

All processes load the same file: a kernel of about 20 us that also tells its own time, by the clock of the
multiprocessor and by the GPU's wall clock. Half of the pairs start the reference's process first, half the
submission's. Half are lined up as the first pair of a grading is, half as those that race. Beside each pair
there is a process that has only loaded the file and got its inputs. Then all are timed alone, in turns. By
role and by way: the time between events, and inside the kernel; so it is seen whether a difference lies in
the kernel (another clock rate) or around it (how it is launched).

Why: on one H200, in two sets of six pairs, each submission's process took 22.55 us and each reference's 21.6
for the very same kernel (``kernel, with itself`` in benchmarks/results/clocks_before.json); on others they
agreed. It is not the kernel: with calls waiting in the queue, launches took longer in some processes than in
others (roles_before.json). With none, all processes agree (roles.json).
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))


from benchmarks.archive.placement import made  # noqa: E402
from grader.domain import cache  # noqa: E402
from grader.domain.task import Case, Task, Tensor  # noqa: E402
from grader.referee.lesson_problem import LessonProblem  # noqa: E402
from grader.referee.process.player_process import Limits, Player  # noqa: E402
from grader.referee.session import Session  # noqa: E402
from grader.referee.side import Reference  # noqa: E402
from grader.referee.timing import gpu_state, setup  # noqa: E402
from grader.referee.timing.contender import Contender  # noqa: E402
from grader.referee.timing.plan import FRESH, Plan, new_seed  # noqa: E402
from grader.referee.timing.setup import hand_over  # noqa: E402
from grader.referee.timing.timed_results import fetch  # noqa: E402

SHAPE = (64, 1024)
TEXT = '''
import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
__global__ void told_kernel(const float* x, float* out, long n, long cycles, bool tell) {
    const long long begin = clock64();
    long long wall;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(wall));
    const long first = blockIdx.x * long(blockDim.x) + threadIdx.x, step = long(gridDim.x) * blockDim.x;
    for (long i = first; i < n; i += step) out[i] = x[i];
    while (clock64() - begin < cycles) {}
    if (tell && first == 0) {
        long long end;
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(end));
        out[0] = clock64() - begin;
        out[1] = end - wall;
    }
}
torch::Tensor told(torch::Tensor x, bool tell) {
    auto out = torch::empty_like(x);
    told_kernel<<<132, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), out.data_ptr<float>(), x.numel(), 36000, tell);
    return out;
}
"""
extension = load_inline(
    "clock_told", "torch::Tensor told(torch::Tensor x, bool tell);", SOURCE, functions=["told"]
)

def work(x):
    return extension.told(x.float(), False).to(x.dtype)


def tell(x):
    return extension.told(x.float(), True).to(x.dtype)
'''
LIMITS = Limits(start=120, load=200, call=200)
PLAN = Plan(8, 40)
WAYS = ("lined up", "beside")


def player(file: Path) -> Player:
    """One more process from the warm parent, or a new one."""
    env = cache.extensions(file.read_text())
    return Player("cuda", LIMITS, sees=(file,), env=env, mode="off")


def processes(file: Path, pairs: int) -> list[dict[str, Any]]:
    """Three of each pair: role, how many were started before it, and a track that tells the kernel's time.

    Every other pair is lined up as the first of a grading is, which has answers computed and a result judged;
    the others are as those that race.
    """
    task = Task("roles", "work", (Case("speed", (Tensor(SHAPE),), "", 0),))
    found: list[dict[str, Any]] = []
    first, sets = None, None
    for number in range(pairs):
        roles = ["reference", "submission", "bare"]
        order = roles if number % 4 < 2 else [roles[1], roles[0], roles[2]]
        started = {role: player(file) for role in order}
        session = Session(
            task,
            str(file),
            lambda p=started["submission"]: p,
            Reference(started["reference"], str(file)),
            LessonProblem,
        )  # type: ignore[misc]
        session.reference.load()
        for role in ("submission", "bare"):
            started[role].ask("load", LIMITS.load, path=str(file))
        sets = sets or [session.problem.arguments(task.cases[0]) for _ in range(PLAN.sets)]
        if first is None or number % 2 == 0:
            start = setup.set_up(session, task.cases[0], plan=PLAN)
            first = first or start
        else:
            start = setup.another_pair(session, task.cases[0], first)
        for role in roles:
            track = Contender("told", made(started[role], "tell"))
            facts = hand_over(track, sets, PLAN)
            found.append({
                "pair": number, "role": role, "place": 3 * number + order.index(role), "track": track,
                "way": WAYS[number % 2],
                "outputs": start.outputs, "times": start.flushes, "overhead_us": facts.overhead_s * 1e6,
                "claims_us": [], "cycles": [], "inside_us": [], "player": started[role],
            })  # fmt: skip
    return found


def timed(everyone: list[dict[str, Any]], rounds: int) -> None:
    """Each process alone, in an order drawn anew each time."""
    rng = np.random.default_rng()
    for _ in range(rounds):
        for one in random.sample(everyone, len(everyone)):
            order = [int(n) for n in rng.integers(0, PLAN.sets, PLAN.calls)]
            one["track"].run_block(order, new_seed(rng), flushes=one["times"], fresh=FRESH)
            told = [call[0].ravel() for call in fetch(one["track"], list(range(len(order))), one["outputs"])]
            one["claims_us"].append(round(median(one["track"].blocks.calls[-1]) * 1e6, 3))
            one["cycles"].append(median(float(t[0]) for t in told))
            one["inside_us"].append(median(float(t[1]) for t in told) / 1e3)


def main(out: Path, pairs: int = 8, rounds: int = 8) -> None:
    """Measure, write everything, print the means by role and by way."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "same.py"
        file.write_text(TEXT)
        everyone = processes(file, pairs)
        try:
            timed(everyone, rounds)
        finally:
            for one in everyone:
                one["player"].stop()
    kept = ("pair", "role", "way", "place", "overhead_us", "claims_us", "cycles", "inside_us")
    rows = [{key: one[key] for key in kept} for one in everyone]
    command = " ".join(["python benchmarks/archive/roles.py OUT.json", *sys.argv[2:]])
    result = {"command": command, "machine": gpu_state.state_json(), "processes": rows}
    out.write_text(json.dumps(result | {"seconds": round(time.monotonic() - begun, 1)}) + "\n")
    for role in ("reference", "submission", "bare"):
        for way in WAYS:
            some = [r for r in rows if r["role"] == role and r["way"] == way]
            if some:
                print(
                    f"{role:10}, {way}: "
                    + ", ".join(
                        f"{key} {mean(median(r[key]) for r in some):.2f}"
                        for key in ("claims_us", "inside_us", "cycles")
                    ),
                    flush=True,
                )


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:4]))
