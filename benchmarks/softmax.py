"""Softmax of 8192 x 8192 in one race: the formula in eager PyTorch, the library, torch.compile, our kernels.

    python benchmarks/softmax.py [--backend cuda] [--rows 8192 --columns 8192] --json FILE

The race is ``course compare``'s. Beside it a copy of the same bytes is timed, the least that any of them must
move: the median of 60 calls between two events each, with other memory written before each, so that the L2
cache is cold as it is in the race. Below full size, or without a GPU, nothing is timed: a look at the script.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from grader.backends import detect  # noqa: E402
from tools.result_facts import facts  # noqa: E402

HERE = ROOT / "benchmarks/pairs/softmax"
SOLUTION = ROOT / "solutions/15_softmax/solution.py"


def race(folder: Path, backend: str, rows: int, columns: int) -> dict[str, Any]:
    """What ``compare`` says of each candidate: seconds, and how many times as fast as the formula."""
    text = (HERE / "textbook.py").read_text()
    reference = folder / "textbook.py"
    reference.write_text(text.replace("8192, 8192", f"{rows}, {columns}"))
    lesson = folder / "lesson_15.py"
    lesson.write_text(SOLUTION.read_text())
    files = [HERE / "library.py", HERE / "compiled.py", HERE / "one_pass.py", lesson]
    ranks = folder / "ranks.json"
    command = [sys.executable, "-m", "grader", "compare", *map(str, files), "--reference", str(reference)]
    subprocess.run([*command, "--backend", backend, "--json", str(ranks)], cwd=ROOT, check=False)
    found = json.loads(ranks.read_text())["candidates"]
    return {one["name"]: kept(one) for one in found}


def kept(candidate: dict[str, Any]) -> dict[str, Any]:
    """Of a candidate of the race what is a measurement."""
    speed = candidate["verdict"]["speed"] or {}
    names = ("kind", "method", "seconds", "eager_seconds", "interval", "rounds")
    return {name: speed[name] for name in names if name in speed} | {"ratio": candidate["ratio"]}


def copied(rows: int, columns: int) -> float:
    """Seconds of a copy of the matrix."""
    import torch

    source = torch.randn(rows, columns, device="cuda")
    target, other = torch.empty_like(source), torch.empty(1 << 27, device="cuda")
    seconds = []
    for _ in range(60):
        other.zero_()
        before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        before.record()
        target.copy_(source)
        after.record()
        torch.cuda.synchronize()
        seconds.append(before.elapsed_time(after) / 1e3)
    return statistics.median(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--backend", default="cuda", choices=["cuda", "simt"])
    parser.add_argument("--rows", type=int, default=8192)
    parser.add_argument("--columns", type=int, default=8192)
    parser.add_argument("--json", type=Path, required=True)
    chosen = parser.parse_args()
    gpu = detect.gpu_name() if chosen.backend == "cuda" else ""
    command = f"python benchmarks/softmax.py --rows {chosen.rows} --columns {chosen.columns} --json FILE"
    record: dict[str, Any] = facts(command, "torch", "triton", device=gpu)
    with tempfile.TemporaryDirectory() as folder:
        record["race"] = race(Path(folder), chosen.backend, chosen.rows, chosen.columns)
    if gpu:
        record["copy_seconds"] = copied(chosen.rows, chosen.columns)
    chosen.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
