"""How much memory a large pair takes: the peak of each process beside the size of its tensors; one JSON file.

    python3 benchmarks/pairs_memory.py [--gigabytes 6] [--backend simt] [--out FILE]

Half of the bytes are an input, half the result. Grading starts the players as ever; ten times a second a
thread adds up what each process below this one holds (resident; shared pages by their share).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import grader  # noqa: E402

REFERENCE = """import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x) * 0.5


def get_inputs():
    return [torch.rand({rows}, 65536)]


def get_init_inputs():
    return []
"""
SUBMISSION = """import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.relu(x).mul_(0.5)
"""


def below(root: int) -> list[int]:
    """Process ids of all descendants, this one first."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            parents.setdefault(parent, []).append(int(entry.name))
    found = [root]
    for pid in found:
        found += parents.get(pid, [])
    return found


def held(pid: int) -> int:
    """Bytes, shared pages by their share."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return sum(int(k) << 10 for k in re.findall(r"^Pss:\s+(\d+)", text, re.M))


class Watch(threading.Thread):
    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.over, self.most, self.each = threading.Event(), 0, {}

    def run(self) -> None:
        while not self.over.wait(0.1):
            now = {pid: held(pid) for pid in below(os.getpid())}
            self.most = max(self.most, sum(now.values()))
            for pid, size in now.items():
                self.each[pid] = max(size, self.each.get(pid, 0))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gigabytes", type=float, default=6.0)
    parser.add_argument("--backend", default="simt")
    parser.add_argument("--out", default="")
    options = parser.parse_args()
    rows = int(options.gigabytes * 1e9 / 2 / 4 / 65536)
    begun, watch = time.monotonic(), Watch()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "reference.py").write_text(REFERENCE.format(rows=rows))
        (home / "mine.py").write_text(SUBMISSION)
        watch.start()
        verdict = grader.check(home / "reference.py", home / "mine.py", backend=options.backend)  # type: ignore[arg-type]
    watch.over.set()
    seconds = round(time.monotonic() - begun, 1)
    largest = sorted(watch.each.values(), reverse=True)[:3]
    result = {
        "command": " ".join(["python3", "benchmarks/pairs_memory.py", *sys.argv[1:]]),
        "device": verdict.device, "python": platform.python_version(), "status": str(verdict.status),
        "tensors_bytes": 2 * rows * 65536 * 4, "peak_bytes": watch.most, "largest_processes_bytes": largest,
        "seconds": seconds, "findings": {f.id: f"{f.status}: {f.message}" for f in verdict.findings},
    }  # fmt: skip
    print(json.dumps(result, indent=1))
    if options.out:
        Path(options.out).write_text(json.dumps(result, indent=1) + "\n")
    return 0 if verdict.ok else 1


if __name__ == "__main__":
    sys.exit(main())
