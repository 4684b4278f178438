"""kill -9 at random moments: a batch whose client, workers and scheduler die ends as if nothing had happened.

    python benchmarks/batch_kill.py [--kills 20] [--count 60] [--seed 1] [--json FILE]

A scheduler and two workers run as processes of their own, as on a cluster. First the class is graded in
peace. Then again from the start, while every few seconds one of client, worker and scheduler is killed; what
was killed is started again, and the same command is run again. In the end the rows must be equal, and no key
may have been finished twice. No worker is killed right after a worker: a file whose worker dies
twice is recorded as not gradable, as it should be.
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
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from grader.teaching.batch import journal  # noqa: E402
from tests.teaching.batch import klass  # noqa: E402
from tools.result_facts import facts  # noqa: E402

KINDS = ("doubled", "not written", "does not compile", "no name", "no Python", "raises", "exits", "segfault")
CENTRAL = ["client", "scheduler"]
ALL = [*CENTRAL, "worker-0", "worker-1"]
COMPARED = ("student", "state", "status", "points", "max_points", "checks")


class Cluster:
    """A scheduler and two workers, each a process that may be killed."""

    def __init__(self, log: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._log = log.open("ab")
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.revive()

    @property
    def address(self) -> str:
        return f"tcp://127.0.0.1:{self.port}"

    def revive(self) -> None:
        """Start what does not run. A worker without a scheduler ends by itself, and is started again, too."""
        for name in ("scheduler", "worker-0", "worker-1"):
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


def client(folder: Path, out: Path, address: str, log: Path) -> subprocess.Popen[bytes]:
    words = ["batch", str(folder), "--lesson", "03", "--out", str(out), "--backend", "simt", "--limit", "15"]
    with log.open("ab") as file:
        return subprocess.Popen(
            [sys.executable, "-m", "grader", *words, "--scheduler", address],
            cwd=ROOT,
            stdout=file,
            stderr=file,
        )


def rows(out: Path) -> list[dict[str, Any]]:
    data = json.loads((out / "reports" / "class.json").read_text())["rows"]
    return [{k: row[k] for k in COMPARED} for row in data]


def attack(
    cluster: Cluster, folder: Path, out: Path, kills: int, draw: random.Random, log: Path
) -> list[str]:
    """Kill until the number is reached, then let it finish; what was killed, in order."""
    killed: list[str] = []
    running = client(folder, out, cluster.address, log)
    pause = draw.uniform(1.0, 6.0)
    begun = last = time.monotonic()
    while True:
        time.sleep(0.2)
        cluster.revive()
        if running.poll() is not None:
            if running.returncode == 0 and len(killed) >= kills:
                return killed
            if running.returncode == 0:  # all is graded, and there are kills left: the rest hits the reports
                kills = len(killed)
            else:
                running = client(folder, out, cluster.address, log)
        if time.monotonic() - begun > 1800:
            raise TimeoutError("half an hour")
        if len(killed) < kills and time.monotonic() - last > pause:
            name = draw.choice(ALL if not killed or killed[-1] in CENTRAL else CENTRAL)
            target = running if name == "client" else cluster.processes[name]
            if target.poll() is None:
                os.kill(target.pid, signal.SIGKILL)
                target.wait()
                killed.append(name)
                print(f"killed {name} after {time.monotonic() - begun:.0f} s", flush=True)
            last, pause = time.monotonic(), draw.uniform(1.0, 6.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        log = folder / "log"
        klass.write(klass.make(options.count, options.count // 6, kinds=KINDS), folder / "class")
        cluster = Cluster(log)
        try:
            begun = time.monotonic()
            peace = client(folder / "class", folder / "peace", cluster.address, log)
            if peace.wait() != 0:
                sys.exit(log.read_text()[-3000:])
            quiet = time.monotonic() - begun
            begun = time.monotonic()
            draw = random.Random(options.seed)
            killed = attack(cluster, folder / "class", folder / "war", options.kills, draw, log)
            seconds = time.monotonic() - begun
        finally:
            cluster.close()
        lines = list(journal.lines(folder / "war" / "journal.jsonl"))
        result = {
            **facts(
                f"python benchmarks/batch_kill.py --kills {options.kills} --count {options.count}", "torch"
            ),
            "kills": len(killed), "killed": killed, "rows": len(rows(folder / "war")),
            "equal": rows(folder / "war") == rows(folder / "peace"),
            "keys": len({line.key for line in lines}), "finished": len(lines),
            "repeated": len(lines) - len({line.key for line in lines}),
            "seconds_in_peace": round(quiet, 1), "seconds": round(seconds, 1),
        }  # fmt: skip
    print(json.dumps(result, indent=1))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")
    sys.exit(0 if result["equal"] and not result["repeated"] else 1)


if __name__ == "__main__":
    main()
