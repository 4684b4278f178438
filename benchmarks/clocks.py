"""What the clock can tell: the same thing raced with itself, and with a known slowdown. Needs a GPU.

    python benchmarks/clocks.py OUT.json [RACES] [SECONDS] [kernel] [model] ["kernel, with itself"] [...]

A word is a subject or one series. Other series of the file stay, and one with fewer races than asked for goes
on; each run of it is kept with its command and machine. To begin anew, name another file.

Two subjects: a kernel that spins for about 20 us on every SM, and the model of lesson 07 at full size.
Each is raced RACES times (default 100) with itself, where the 95 % interval should hold 1, and with a
copy of itself that is slower by 2 % (kernel) or 1 % (model), which should be called slower. Processes are
started anew for every 34th race; each race of the kernel draws from a dozen of them which pairs meet, so that
no luck of one process's memory goes into all of them.
"""

from __future__ import annotations

import json
import math
import random
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import pstdev
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from grader.domain import cache, lessons  # noqa: E402
from grader.domain.task import Case, Task, Tensor  # noqa: E402
from grader.referee.fault import FaultError  # noqa: E402
from grader.referee.lesson_problem import LessonProblem  # noqa: E402
from grader.referee.process.player_process import Limits, Player  # noqa: E402
from grader.referee.session import Session  # noqa: E402
from grader.referee.side import Reference  # noqa: E402
from grader.referee.timing import gpu_state, setup  # noqa: E402
from grader.referee.timing.contender import EAGER  # noqa: E402
from grader.referee.timing.plan import Plan  # noqa: E402
from grader.referee.timing.race import Race  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.referee.timing.race_result import RaceResult

SPIN = '''
import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
__global__ void spin_kernel(const float* x, float* out, long n, long cycles) {
    const long long begin = clock64();
    const long first = blockIdx.x * long(blockDim.x) + threadIdx.x, step = long(gridDim.x) * blockDim.x;
    for (long i = first; i < n; i += step) out[i] = x[i];
    while (clock64() - begin < cycles) {}
}
torch::Tensor spin(torch::Tensor x, int64_t cycles) {
    auto out = torch::empty_like(x);
    spin_kernel<<<132, 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), x.numel(), cycles);
    return out;
}
"""
declared = "torch::Tensor spin(torch::Tensor x, int64_t cycles);"
extension = load_inline("clock_spin", declared, SOURCE, functions=["spin"])
'''
KERNEL = "\n\ndef work(x):\n    return extension.spin(x.float(), {cycles}).to(x.dtype)\n"
SLOWED = """

class Slow(Model):
    def forward(self, x):
        out = super().forward(x)
        extension.spin(x[:1].float(), {cycles})
        return out
"""
CYCLES, MEGAHERTZ = 36_000, 1980  # about 18 us of spinning and the copy
EVERY, POOL = 34, 6  # races with the same processes; pairs of them to draw from
ITSELF, SLOWER = "with itself", "slower"
ORDER = (("kernel", ITSELF), ("kernel", SLOWER), ("model", SLOWER), ("model", ITSELF))  # what counts first
KERNEL_PLAN = Plan(8, 40, least=6, most=9, limit_s=2.0)
MODEL_PLAN = Plan(2, 4, least=4, most=8, limit_s=2.5)


def subjects(folder: Path) -> dict[str, tuple[Task, Path, Path, Path]]:
    """Task, reference, the same again, and the slower one."""
    same, slow = folder / "same.py", folder / "slow.py"
    same.write_text(SPIN + KERNEL.format(cycles=CYCLES))
    slow.write_text(SPIN + KERNEL.format(cycles=round(CYCLES * 1.022)))  # of the spinning: 2 % of the whole
    kernel = Task("kernel", "work", (Case("speed", (Tensor((64, 1024)),), "", 0),))
    lesson = lessons.find("07")
    assert lesson.task.speed is not None
    own, slower = folder / "model.py", folder / "model_slow.py"
    text = lesson.reference.read_text()
    own.write_text(SPIN + text + "\n\nclass Slow(Model):\n    pass\n")
    slower.write_text(SPIN + text + SLOWED.format(cycles=round(27e-6 * MEGAHERTZ * 1e6)))
    case = lesson.task.speed.full
    model = Task("model", "Slow", (case,), kind="model", reference_entry="Model")
    return {"kernel": (kernel, same, same, slow), "model": (model, own, own, slower)}


class Pool:
    """Pairs of processes that are lined up; a race draws from them which meet."""

    def __init__(self, task: Task, reference: Path, file: Path, count: int, plan: Plan) -> None:
        limits, env = Limits(start=120, load=200, call=200), cache.extensions(reference.read_text())
        self.task, self.players = task, []
        sessions = []
        for _ in range(count + (count > 1)):
            pair = [Player("cuda", limits, sees=(path,), env=env, mode="off") for path in (reference, file)]
            self.players += pair
            theirs = Reference(pair[0], str(reference))
            sessions.append(Session(task, str(file), lambda p=pair[1]: p, theirs, LessonProblem))  # type: ignore[misc]
        for session in sessions:
            session.reference.load()
            assert session.player is not None
            session.player.ask("load", limits.load, path=str(file))
        first = setup.set_up(sessions[0], task.cases[0], plan=plan)
        others = [setup.another_pair(session, task.cases[0], first) for session in sessions[1:]]
        self.starts = others or [first]  # as in a grading: where several pairs race, the first does not

    def race(self) -> RaceResult:
        """One race, of as many pairs as a grading would take."""
        start = self.starts[0]
        wanted = min(start.plan.pairs_for(start.eager_s), len(self.starts))
        if wanted == 1:
            return raced([start])
        references, files = (random.sample(self.starts, wanted) for _ in range(2))
        flushes = max(s.flushes for s in self.starts)
        return raced(
            [
                replace(f, reference=r.reference, flushes=flushes)
                for r, f in zip(references, files, strict=True)
            ]
        )

    def close(self) -> None:
        """End all processes."""
        for player in self.players:
            player.stop()


def raced(pairs: list[setup.ProcessPair]) -> RaceResult:
    """A race of one candidate."""
    one = Race([pairs[0].session], [[pair] for pair in pairs])
    one.run()
    return one.result()


def series(
    task: Task, reference: Path, file: Path, count: int, until: float, found: list[dict[str, Any]]
) -> Iterator[None]:
    """So many races into ``found``, or as many as there is time for; comes back after each few."""
    pairs, plan = (1, MODEL_PLAN) if task.kind == "model" else (POOL, KERNEL_PLAN)
    while len(found) < count and time.monotonic() < until:
        began = time.monotonic()
        pool = Pool(task, reference, file, pairs, plan)
        prepared = round(time.monotonic() - began, 2)
        try:
            for _ in range(min(EVERY, count - len(found))):
                if time.monotonic() > until:
                    break
                begun = time.monotonic()
                try:
                    result = pool.race()
                except FaultError as fault:
                    found.append({"fault": fault.message})
                    continue
                one, alone = result.against(), result.against(sampling=True)
                both = result.submission, result.baselines[EAGER]
                found.append({
                    "ratio": one.ratio, "low": one.low, "high": one.high, "outcome": one.outcome,
                    "blocks alone": [alone.low, alone.high], "rounds": result.rounds, "prepared": prepared,
                    "flushes": max(s.flushes for s in pool.starts),
                    "unlike_us": _finite(result.unlike_s() * 1e6),
                    "seconds": round(time.monotonic() - begun, 2),
                    "apart": result.submission.unexplained() - result.baselines[EAGER].unexplained(),
                    "median": sorted(result.submission.seconds)[len(result.submission.seconds) // 2],
                    "overhead_us": result.overhead_s * 1e6,
                    "gaps_us": [(b.gaps * 1e6).round(1).tolist() for b in both],
                    "claims_us": [(b.claims * 1e6).round(2).tolist() for b in both],
                    "kept": [result.groups, [int(k) for k in result.confirmed]],
                })  # fmt: skip
                if len(found) % 10 == 0:
                    yield
        finally:
            pool.close()
        yield


def _finite(value: float) -> float | None:
    return value if value == value else None


def summary(races: list[dict[str, Any]]) -> dict[str, Any]:
    """What the bars are about."""
    right = [r for r in races if "ratio" in r]
    if not right:
        return {"races": len(races), "faults": len(races)}
    middle = len(right) // 2
    return {
        "races": len(races),
        "faults": len(races) - len(right),
        "holds 1": sum(r["low"] <= 1 <= r["high"] for r in right),
        "holds 1, blocks alone": sum(r["blocks alone"][0] <= 1 <= r["blocks alone"][1] for r in right),
        "slower": sum(r["outcome"] == "slower" for r in right),
        "median half width": sorted((r["high"] - r["low"]) / 2 for r in right)[middle],
        "spread of ratios": pstdev(math.log(r["ratio"]) for r in right),
        "median us": sorted(r["median"] for r in right)[middle] * 1e6,
        "seconds a race": sorted(r["seconds"] for r in right)[middle],
    }


def runs(one: dict[str, Any]) -> list[dict[str, Any]]:
    """Command, machine and number of races of each run that a series was made by."""
    if not one["races"]:
        return []
    only = {"command": one["command"], "machine": one["machine"], "races": len(one["races"])}
    return list(one.get("runs") or [only])


def main(out: Path, count: int, seconds: float, which: list[str]) -> None:
    """The series asked for, each with its share of the time that is left; the file is written every ten."""
    words = [f'"{word}"' if " " in word else word for word in which]
    how = {
        "command": " ".join(["python benchmarks/clocks.py OUT.json", str(count), f"{seconds:g}", *words]),
        "machine": gpu_state.state_json(),
    }
    result: dict[str, Any] = json.loads(out.read_text("utf-8")) if out.exists() else {"series": {}}
    ends = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        made = subjects(Path(folder))
        named = {(name, kind): {name, f"{name}, {kind}"} for name, kind in ORDER}
        jobs = [(*key, *made[key[0]]) for key, names in named.items() if not which or names & set(which)]
        for number, (name, kind, task, reference, same, slow) in enumerate(jobs):
            left = (ends - time.monotonic()) / (len(jobs) - number)
            before = result["series"].get(f"{name}, {kind}") or {"races": []}
            races: list[dict[str, Any]] = list(before["races"])
            earlier = runs(before)
            had, file = len(races), same if kind == ITSELF else slow
            for _ in series(task, reference, file, count, time.monotonic() + left, races):
                if len(races) == had:  # the time was up before the first
                    continue
                told = [*earlier, how | {"races": len(races) - had}]
                result["series"][f"{name}, {kind}"] = how | {
                    "runs": told, "summary": summary(races), "races": races,
                }  # fmt: skip
                out.write_text(json.dumps(result) + "\n")
            print(name, kind, summary(races), flush=True)


if __name__ == "__main__":
    args = sys.argv[1:]
    main(
        Path(args[0]),
        int(args[1]) if len(args) > 1 else 100,
        float(args[2]) if len(args) > 2 else 500.0,
        args[3:],
    )
