"""The two models of lessons 07 and 08 in every version, each raced with eager PyTorch. Needs a GPU.

    python benchmarks/models.py OUT.json

For each version how many times as fast as eager the whole model is, with its 95 % interval, in float32 (TF32
off): what the pages say about half a percent rests on this table. Below two minutes.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from grader.domain.speed import as_json  # noqa: E402
from grader.domain.task import Case, Task, Tensor  # noqa: E402
from grader.referee.fault import FaultError  # noqa: E402
from grader.referee.lesson_problem import LessonProblem  # noqa: E402
from grader.referee.process.player_process import Limits, Player  # noqa: E402
from grader.referee.session import Session  # noqa: E402
from grader.referee.side import Reference  # noqa: E402
from grader.referee.timing import gpu_state, race, setup  # noqa: E402
from grader.referee.timing.contender import EAGER  # noqa: E402
from grader.referee.timing.interval import spread  # noqa: E402
from grader.referee.timing.plan import Plan  # noqa: E402

FILE = ROOT / "benchmarks" / "programs" / "models.py"
SHAPE, COLUMNS = (1024, 8192), 8192
VERSIONS = {
    "76": {"Naive76": "fused, one element a thread", "Vector76": "fused, float4, in place",
           "Library76": "torch._addmm_activation"},
    "70": {"Naive70": "fused, one element a thread", "Vector70": "fused, float4, in place"},
}  # fmt: skip
PLAN = Plan(2, 5, least=8, most=24, limit_s=5.0, half_width=0.001)


def raced(problem: str, version: str, baselines: tuple[str, ...]) -> list[dict[str, Any]]:
    """The version against eager, and beside it eager compiled, if that is asked for."""
    case = Case("speed", (Tensor(SHAPE),), "", 0, init=(SHAPE[1], COLUMNS))
    task = Task(version, version, (case,), kind="model", reference_entry=f"Eager{problem}")
    limits = Limits(start=120, load=200, call=200)
    players = [Player("cuda", limits, sees=(FILE,), mode="off") for _ in range(2)]
    session = Session(task, str(FILE), lambda: players[1], Reference(players[0], str(FILE)), LessonProblem)
    try:
        for player in players:
            player.ask("load", limits.load, path=str(FILE))
        one = race.Race([session], [[setup.set_up(session, case, baselines, plan=PLAN)]])
        one.run()
        result = one.result()
    finally:
        for player in players:
            player.stop()
    eager = spread(result.baselines[EAGER].seconds)
    against = result.against()
    about = {"rounds": result.rounds, "machine": as_json(result.machine)}
    rows = [_row(problem, VERSIONS[problem][version], spread(result.submission.seconds), against) | about]
    for name in baselines:
        # Both were raced with the same submission, so the ratio of the ratios is theirs.
        pairs = [(theirs, mine) for (_, theirs), (_, mine) in
                 zip(result.block_pairs[name], result.block_pairs[EAGER], strict=True)]  # fmt: skip
        result.block_pairs["other"] = pairs
        rows.append(
            _row(
                problem,
                f"torch.compile, {name}",
                spread(result.baselines[name].seconds),
                result.against("other"),
            )
        )
    if baselines:
        same = {"ratio": 1.0, "interval": [1.0, 1.0], "outcome": "same"}
        rows.append({"model": problem, "version": "eager", "seconds": as_json(eager)} | same)
    return rows


def _row(problem: str, version: str, seconds: Any, found: Any) -> dict[str, Any]:
    return {
        "model": problem, "version": version, "seconds": as_json(seconds), "ratio": found.ratio,
        "interval": [found.low, found.high], "outcome": found.outcome,
    }  # fmt: skip


def main(out: Path) -> None:
    """All versions; the file is written after each."""
    result: dict[str, Any] = {
        "command": "python benchmarks/models.py OUT.json", "machine": gpu_state.state_json(), "rows": [],
    }  # fmt: skip
    for problem, versions in VERSIONS.items():
        for number, version in enumerate(versions):
            begun = time.monotonic()
            try:
                rows = raced(problem, version, ("default",) if number == 0 else ())
            except FaultError as fault:
                rows = [{"model": problem, "version": version, "fault": fault.message}]
            result["rows"] += rows
            for row in rows:
                print(f"{time.monotonic() - begun:5.1f} s", {k: v for k, v in row.items() if k != "machine"},
                      flush=True)  # fmt: skip
            out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
