"""What the clock can tell: the same thing raced with itself, and with a known slowdown. Needs a GPU.

    python benchmarks/clocks.py OUT.json [RACES] [SECONDS]

Two subjects: a kernel that spins for about 20 us on every SM, and the model of lesson 07 at full size.
Each is raced RACES times (default 100) with itself, where the 95 % interval should hold 1, and with a
copy of itself that is slower by 2 % (kernel) or 1 % (model), which should be called slower. Players are
started anew for every tenth race, so that no luck of one process's memory goes into all of them.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from grader import lessons  # noqa: E402
from grader.clock import machine, race  # noqa: E402
from grader.clock.plan import Plan  # noqa: E402
from grader.cuda import cache  # noqa: E402
from grader.referee.conduct import Match  # noqa: E402
from grader.referee.fault import FaultError  # noqa: E402
from grader.referee.oracle import Oracle  # noqa: E402
from grader.referee.process import Limits, Player  # noqa: E402
from grader.task import Case, Task, Tensor  # noqa: E402

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
EVERY = 10


def subjects(folder: Path) -> dict[str, tuple[Task, Path, Path, Path]]:
    """Task, reference, the same again, and the slower one."""
    same, slow = folder / "same.py", folder / "slow.py"
    same.write_text(SPIN + KERNEL.format(cycles=CYCLES))
    slow.write_text(SPIN + KERNEL.format(cycles=round(CYCLES * 1.022)))  # of the spinning: 2 % of the whole
    kernel = Task("kernel", "work", (Case("speed", (Tensor((256, 1024)),), "", 0),))
    lesson = lessons.find("07")
    assert lesson.task.speed is not None
    own, slower = folder / "model.py", folder / "model_slow.py"
    text = lesson.reference.read_text()
    own.write_text(SPIN + text + "\n\nclass Slow(Model):\n    pass\n")
    slower.write_text(SPIN + text + SLOWED.format(cycles=round(27e-6 * MEGAHERTZ * 1e6)))
    case = lesson.task.speed.full
    model = Task("model", "Slow", (case,), kind="model", reference_entry="Model")
    return {"kernel": (kernel, same, same, slow), "model": (model, own, own, slower)}


def series(task: Task, reference: Path, file: Path, count: int, until: float) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    limits = Limits(start=120, load=200, call=200)
    env = cache.extensions(reference.read_text())
    plan = Plan(2, 4) if task.kind == "model" else None
    while len(found) < count and time.monotonic() < until:
        player = [Player("cuda", limits, sees=(path,), env=env, mode="off") for path in (reference, file)]
        oracle = Oracle(player[0], task)
        match = Match(task, str(file), lambda p=player[1]: p, oracle)
        try:
            oracle.load(str(reference))
            assert match.player is not None
            match.player.ask("load", limits.load, path=str(file))
            began = time.monotonic()
            start = race.line_up(match, task.cases[0], how=plan)
            prepared = round(time.monotonic() - began, 2)
            for _ in range(min(EVERY, count - len(found))):
                begun = time.monotonic()
                try:
                    heat = race.heat(match, start)
                except FaultError as fault:
                    found.append({"fault": fault.message})
                    continue
                one = heat.against()
                found.append({
                    "ratio": one.ratio, "low": one.low, "high": one.high, "outcome": one.outcome,
                    "rounds": heat.rounds, "prepared": prepared,
                        "seconds": round(time.monotonic() - begun, 2),
                    "apart": heat.own.unexplained() - heat.baselines["eager"].unexplained(),
                    "median": sorted(heat.own.seconds)[len(heat.own.seconds) // 2],
                })  # fmt: skip
        finally:
            match.close()
            player[0].stop()
    return found


def main(out: Path, count: int, seconds: float) -> None:
    result: dict[str, Any] = {
        "command": "python benchmarks/clocks.py",
        "machine": machine.state(),
        "series": {},
    }
    ends = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        jobs = [
            (f"{name}, {kind}", task, reference, file)
            for name, (task, reference, same, slow) in subjects(Path(folder)).items()
            for kind, file in (("with itself", same), ("slower", slow))
        ]
        for number, (name, task, reference, file) in enumerate(jobs):
            left = (ends - time.monotonic()) / (len(jobs) - number)
            races = series(task, reference, file, count, time.monotonic() + left)
            right = [r for r in races if "ratio" in r]
            summary = {
                "races": len(races),
                "faults": len(races) - len(right),
                "holds 1": sum(r["low"] <= 1 <= r["high"] for r in right),
                "slower": sum(r["outcome"] == "slower" for r in right),
                "median half width": sorted((r["high"] - r["low"]) / 2 for r in right)[len(right) // 2]
                if right
                else 0,
            }
            result["series"][name] = {"summary": summary, "races": races}
            print(name, summary, flush=True)
            out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    args = sys.argv[1:]
    main(Path(args[0]), int(args[1]) if len(args) > 1 else 100, float(args[2]) if len(args) > 2 else 500.0)
