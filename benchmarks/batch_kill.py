"""kill -9 at random moments: a batch whose processes die ends as if nothing had happened.

    python benchmarks/batch_kill.py [--kills 20] [--count 60] [--workers 2] [--seed 1] [--json FILE]
    python benchmarks/batch_kill.py --minutes 10 --workers 4 --cheap --json FILE
    python benchmarks/batch_kill.py --plain --kills 20 --json FILE

A scheduler and its workers run as processes of their own, as on a cluster. First the class is graded in
peace. Then again from the start, while every few seconds one of client, workers and scheduler is killed; what
was killed is started again, and the same command is run again. With ``--minutes`` classes are graded one
after another until the time is over. With ``--plain`` there is no cluster: the batch starts its own workers,
and is killed itself. ``--cheap`` leaves out what has to be compiled.

No key may have been finished twice. A file whose worker died twice is recorded as not gradable, as it should
be; how many are counted, and ``--regrade not_gradable`` then tries those again. After that all rows must be
equal to those graded in peace.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from grader.teaching.batch import journal  # noqa: E402
from tests.teaching.batch import klass  # noqa: E402
from tools.result_facts import facts  # noqa: E402

KINDS = ("doubled", "not written", "does not compile", "no name", "no Python", "raises", "exits", "segfault")
CHEAP = ("no Python", "raises", "exits", "segfault", "leaves")
LONGEST_S = 3600
COMPARED = ("student", "state", "status", "points", "max_points", "checks")


class Cluster:
    """A scheduler and its workers, each a process that may be killed; with no workers nothing at all."""

    def __init__(self, log: Path, workers: int) -> None:
        self._names = ["scheduler", *(f"worker-{k}" for k in range(workers))] if workers else []
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._log = log.open("ab")
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.revive()

    @property
    def address(self) -> str:
        return f"tcp://127.0.0.1:{self.port}" if self._names else ""

    def revive(self) -> None:
        """Start what does not run. A worker without a scheduler ends by itself, and is started again, too."""
        for name in self._names:
            old = self.processes.get(name)
            if old is None or old.poll() is not None:
                self.processes[name] = self._start(name)

    def _start(self, name: str) -> subprocess.Popen[bytes]:
        if name == "scheduler":
            words = ["scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard"]
        else:
            words = [
                "worker",
                self.address,
                "--nthreads",
                "1",
                "--memory-limit",
                "0",
                "--no-dashboard",
                "--no-nanny",
            ]
            words += ["--resources", "CORE=1", "--death-timeout", "20", "--name", f"{name}-{time.time_ns()}"]
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *words], cwd=ROOT, stdout=self._log, stderr=self._log,
            start_new_session=True,
        )  # fmt: skip

    def close(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()


def client(folder: Path, out: Path, address: str, log: Path, *more: str) -> subprocess.Popen[bytes]:
    words = ["batch", str(folder), "--lesson", "03", "--out", str(out), "--backend", "simt", "--limit", "15"]
    words += ["--scheduler", address] if address else []
    with log.open("ab") as file:
        return subprocess.Popen(
            [sys.executable, "-m", "grader", *words, *more],
            cwd=ROOT,
            stdout=file,
            stderr=file,
        )


def rows(out: Path) -> list[dict[str, Any]]:
    data = json.loads((out / "reports" / "class.json").read_text())["rows"]
    return [{k: row[k] for k in COMPARED} for row in data]


def attack(
    cluster: Cluster,
    folder: Path,
    out: Path,
    more: Callable[[int], bool],
    draw: random.Random,
    longest_s: float,
    log: Path,
) -> list[str]:
    """Kill while there are to be ``more`` than so many kills, until the class is graded; what was killed."""
    killed: list[str] = []
    running = client(folder, out, cluster.address, log)
    begun = last = time.monotonic()
    pause = draw.uniform(1.0, longest_s)
    while True:
        time.sleep(0.1)
        cluster.revive()
        if running.poll() is not None:
            if running.returncode in (0, 1):
                return killed
            running = client(folder, out, cluster.address, log)
        if time.monotonic() - begun > LONGEST_S:
            raise TimeoutError("The class was not graded in time.")
        if time.monotonic() - last > pause and more(len(killed)):
            name = draw.choice(["client", *cluster.processes])
            target = running if name == "client" else cluster.processes[name]
            if target.poll() is None:
                os.kill(target.pid, signal.SIGKILL)
                target.wait()
                killed.append(name)
                print(f"killed {name} after {time.monotonic() - begun:.0f} s", flush=True)
            last, pause = time.monotonic(), draw.uniform(1.0, longest_s)


def look(cluster: Cluster, folder: Path, out: Path, peace: list[dict[str, Any]], log: Path) -> dict[str, Any]:
    """What came of a class whose processes were killed, before and after the remedy for files that died."""
    lines = list(journal.lines(out / "journal.jsonl"))
    keys, found = {line.key for line in lines}, rows(out)
    dead = sum(row["state"] == "not_gradable" for row in found)
    if dead and client(folder, out, cluster.address, log, "--regrade", "not_gradable").wait() != 0:
        sys.exit(log.read_text()[-3000:])
    return {
        "rows": len(found), "lost": len(peace) - len(found), "finished": len(lines),
        "repeated": len(lines) - len(keys), "died_twice": dead, "equal": rows(out) == peace,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=0.0, help="kill for so long, whatever --kills says")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--cheap", action="store_true")
    parser.add_argument("--pause", type=float, default=15.0, help="seconds between kills, at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as place:
        folder, log = Path(place), Path(place) / "log"
        if options.cheap:
            made = klass.make(options.count, options.count, kinds=CHEAP)
        else:
            made = klass.make(options.count, options.count // 6, kinds=KINDS)
        klass.write(made, folder / "class")
        cluster = Cluster(log, 0 if options.plain else options.workers)
        try:
            begun = time.monotonic()
            if client(folder / "class", folder / "peace", cluster.address, log).wait() != 0:
                sys.exit(log.read_text()[-3000:])
            quiet, peace = time.monotonic() - begun, rows(folder / "peace")
            killed: list[str] = []
            found: list[dict[str, Any]] = []
            begun = time.monotonic()

            def more(now: int) -> bool:
                if options.minutes:
                    return time.monotonic() - begun < 60 * options.minutes
                return len(killed) + now < options.kills

            while more(0):
                out = folder / f"war-{len(found)}"
                killed += attack(cluster, folder / "class", out, more, draw, options.pause, log)
                found.append(look(cluster, folder / "class", out, peace, log))
            seconds = time.monotonic() - begun
        finally:
            cluster.close()
    asked = [word for word in sys.argv[1:] if word not in ("--json", str(options.json))]
    result: dict[str, Any] = {
        **facts(f"python benchmarks/batch_kill.py {' '.join(asked)}", "torch", "distributed"),
        "workers": len(os.sched_getaffinity(0)) if options.plain else options.workers,
        "kills": len(killed), "killed": dict(Counter(killed)), "classes": len(found),
        "rows": sum(one["rows"] for one in found), "equal": all(one["equal"] for one in found),
        "lost": sum(one["lost"] for one in found), "finished": sum(one["finished"] for one in found),
        "repeated": sum(one["repeated"] for one in found),
        "died_twice": sum(one["died_twice"] for one in found),
        "seconds_in_peace": round(quiet, 1), "seconds": round(seconds, 1),
    }  # fmt: skip
    print(json.dumps(result, indent=1))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")
    sys.exit(0 if result["equal"] and not result["repeated"] and not result["lost"] else 1)


if __name__ == "__main__":
    main()
