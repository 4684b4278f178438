"""What judging costs: a cached, correct lesson 07 graded, against its calls run bare; and the sandbox.

    python benchmarks/overhead.py [--runs 5] [--json benchmarks/results/overhead.json]

"bare" is one process of ``python -m grader.backends.simt`` that imports the solution and makes as many calls
on the same shapes as a grading does, with no referee, no reference and nothing compared. "graded" is
``python -m grader check 07``. "sandbox" and "no sandbox" are ``check 03`` with ``--sandbox auto`` and
``off``. The two of a pair take turns (A B B A ...).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOLUTIONS = ROOT / "solutions"
BARE = """
import importlib.util, json, sys, torch
spec = importlib.util.spec_from_file_location("submission", {path!r})
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
for init, shapes, dtypes, devices, calls in json.loads({cases!r}):
    model = module.ModelNew(*[tuple(a) if isinstance(a, list) else a for a in init]).to("cuda").eval()
    for _ in range(calls):
        args = [torch.randn(s).to(getattr(torch, t)).to(d) for s, t, d in zip(shapes, dtypes, devices)]
        try:
            with torch.no_grad():
                model(*args)
        except RuntimeError:
            pass
torch.cuda.synchronize()
"""


def bare_file(folder: Path) -> Path:
    sys.path.insert(0, str(ROOT))
    from grader.domain import lessons
    from grader.domain.task import Tensor
    from grader.referee import rounds

    task = lessons.find("07").task
    cases = []
    for case in task.cases:
        tensors = [a for a in case.args if isinstance(a, Tensor)]
        shapes, dtypes = [list(t.shape) for t in tensors], [t.dtype for t in tensors]
        devices = [t.device for t in tensors]
        cases.append([list(case.init), shapes, dtypes, devices, len(rounds.planned(task, case))])
    file = folder / "bare.py"
    path = str(SOLUTIONS / "07_fused_bias_relu" / "solution.py")
    file.write_text(BARE.format(path=path, cases=json.dumps(cases)))
    return file


def run(words: list[str]) -> float:
    """Seconds that one command takes."""
    begun = time.perf_counter()
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    took = time.perf_counter() - begun
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed:\n{done.stdout}{done.stderr}")
    return took


def in_turns(one: list[str], other: list[str], runs: int) -> list[list[float]]:
    pair: list[list[float]] = [[], []]
    run(one), run(other)  # the cache is warm from here on
    for number in range(runs):
        for side in (0, 1) if number % 2 else (1, 0):
            pair[side].append(run((one, other)[side]))
    return pair


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    check = ["-m", "grader", "check"]
    seven = [*check, "07", str(SOLUTIONS / "07_fused_bias_relu" / "solution.py"), "--backend", "simt"]
    three = [*check, "03", str(SOLUTIONS / "03_square_kernel" / "solution.py"), "--backend", "simt"]
    with tempfile.TemporaryDirectory() as folder:
        file = bare_file(Path(folder))
        graded = in_turns(["-m", "grader.backends.simt", str(file)], seven, options.runs)
    boxed = in_turns([*three, "--sandbox", "off"], [*three, "--sandbox", "auto"], options.runs)
    seconds = dict(zip(("bare", "graded", "no sandbox", "sandbox"), (*graded, *boxed), strict=True))
    middle = {name: statistics.median(times) for name, times in seconds.items()}
    for name, times in seconds.items():
        print(f"{name:12} median {middle[name]:6.2f} s  fastest {min(times):6.2f} s")
    print(f"judging adds {middle['graded'] - middle['bare']:.2f} s (target: 1.5 s)")
    print(f"the sandbox adds {middle['sandbox'] - middle['no sandbox']:.2f} s (target: 0.15 s)")
    if options.json:
        from importlib.metadata import version

        record = {
            "command": f"python benchmarks/overhead.py --runs {options.runs}",
            "date": time.strftime("%Y-%m-%d"),
            "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
            "load_at_the_end": os.getloadavg(),
            "versions": {"python": platform.python_version(), "torch": version("torch")},
            "seconds": seconds,
        }
        options.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
