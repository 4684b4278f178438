"""How long a timed grading of lesson 07 takes, and where the time goes. Needs a GPU.

    python benchmarks/lesson07.py OUT.json [TIMES]

The solution is graded once so that its build is kept; then TIMES times (default 2) each of: by a command of
its own, as a student would; by this process, with players that are started; with players that wait, as for
``course watch``, first with compute-sanitizer run anew, then with what it said of this very file. For
each the stages of the verdict, and every request to a player, when and how long.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from grader.backends import detect  # noqa: E402
from grader.domain import lessons, submission  # noqa: E402
from grader.domain.cache import cache_folder  # noqa: E402
from grader.domain.options import GradingOptions  # noqa: E402
from grader.referee.job import Job  # noqa: E402
from grader.referee.pipeline import check, warm  # noqa: E402
from grader.referee.process.player_process import Player  # noqa: E402
from grader.referee.timing import gpu_state  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

START = """
import time; t = time.monotonic(); import torch; a = time.monotonic(); import torch.utils.cpp_extension
b = time.monotonic(); torch.cuda.init(); c = time.monotonic(); torch.zeros(1, device="cuda")
print(*(round(s, 3) for s in (a - t, b - a, c - b, time.monotonic() - c)))
"""


def by_command(folder: Path) -> dict[str, Any]:
    """One grading as it is typed."""
    solution, target = lessons.find("07").solution, folder / "verdict.json"
    command = [sys.executable, "-m", "grader", "check", "07", str(solution), "--backend", "cuda", "--time"]
    begun = time.monotonic()
    done = subprocess.run(
        [*command, "--json", str(target)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    seconds = time.monotonic() - begun
    if not target.exists():
        return {"seconds": seconds, "said": (done.stdout + done.stderr)[-2000:]}
    return {"whole command": round(seconds, 2)} | _of(json.loads(target.read_text()))


def in_process(*, warmed: bool) -> dict[str, Any]:
    """One grading by this process."""
    lesson = lessons.find("07")
    job = Job(lesson.name, lesson.task, lesson.reference, submission.read(lesson.solution),
              detect.choose("cuda"), options=GradingOptions(with_speed=True))  # fmt: skip
    job = warm(job) if warmed else job
    with requests() as seen:
        verdict = check(job).verdict.as_json()
    return _of(verdict) | {"waiting": bool(job.pools), "requests": seen}


@contextlib.contextmanager
def requests() -> Iterator[list[list[Any]]]:
    """Every request to a player meanwhile: [which player, what, began, seconds]."""
    seen: list[list[Any]] = []
    zero, numbers = time.monotonic(), {}
    asked, ready = Player.ask, Player.ready

    def note(player: Player, what: str, begun: float) -> None:
        number = numbers.setdefault(id(player), len(numbers))
        seen.append([number, what, round(begun - zero, 3), round(time.monotonic() - begun, 4)])

    def ask(self: Player, do: str, seconds: float, **fields: Any) -> Any:
        if not self._ready:
            self.ready()
        begun = time.monotonic()
        try:
            return asked(self, do, seconds, **fields)
        finally:
            note(self, " ".join([do, *(str(fields[k]) for k in ("step", "track") if k in fields)]), begun)

    def started(self: Player) -> Any:
        begun = time.monotonic()
        try:
            return ready(self)
        finally:
            note(self, "ready", begun)

    Player.ask, Player.ready = ask, started  # type: ignore[method-assign]
    try:
        yield seen
    finally:
        Player.ask, Player.ready = asked, ready  # type: ignore[method-assign]


def sums(seen: list[list[Any]]) -> dict[str, list[float]]:
    """By player and request: how often, seconds in all, begin of the first, end of the last."""
    found: dict[str, list[float]] = {}
    for player, what, begun, seconds in seen:
        one = found.setdefault(f"{player} {what}", [0, 0.0, begun, 0.0])
        one[0], one[1], one[3] = one[0] + 1, round(one[1] + seconds, 3), round(begun + seconds, 2)
    return found


def _of(verdict: dict[str, Any]) -> dict[str, Any]:
    speed = verdict["speed"] or {}
    return {
        "status": verdict["status"], "seconds": round(verdict["seconds"], 2),
        "stages": {k: round(v, 3) for k, v in verdict["stages"].items()},
        "ratio": speed.get("whole_ratio"), "interval": speed.get("interval"), "rounds": speed.get("rounds"),
        "why": speed.get("why"), "device": verdict["device"],
        "speed": {k: v for k, v in speed.items() if k != "blocks"},
        "wrong": [f"{f['id']}: {f['message'][:300]}" for f in verdict["findings"] if f["status"] != "passed"],
    }  # fmt: skip


def started() -> list[str]:
    """Seconds of the steps of an empty process."""
    done = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True, check=False)
    return done.stdout.split()


def main(out: Path, times: int = 2) -> None:
    """Grade, print, write after each."""
    result: dict[str, Any] = {
        "command": f"python benchmarks/lesson07.py OUT.json {times}", "machine": gpu_state.state_json(),
        "import torch, cpp_extension, cuda.init, first tensor": [started() for _ in range(2)],
    }  # fmt: skip
    print({k: v for k, v in result.items() if "import" in k}, flush=True)
    with tempfile.TemporaryDirectory() as name:
        kinds = [
            ("first", 1, lambda: by_command(Path(name))),
            ("by command", times, lambda: by_command(Path(name))),
            ("in process", times, lambda: in_process(warmed=False)),
            ("waiting, memory anew", times, lambda: in_process(warmed=True)),
            ("waiting", times + 1, lambda: in_process(warmed=True)),
        ]
        for kind, count, grade in kinds:
            result[kind] = []
            for _ in range(count):
                if "anew" in kind:
                    shutil.rmtree(cache_folder() / "memory", ignore_errors=True)
                row = grade()
                result[kind].append(row)
                print(
                    kind,
                    json.dumps({k: v for k, v in row.items() if k not in ("requests", "speed")}),
                    flush=True,
                )
                for what, numbers in sums(row.get("requests", [])).items():
                    if numbers[1] >= 0.02:
                        print(f"    {what:40s}", *numbers)
                out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:3]))
