"""Seconds that a stranger waits in the first hour: small commands, a check, the demo cold and warm.

    python benchmarks/first_hour.py

Everything is done in a clean clone with an empty home and cache, by ``./course`` as it is typed; small
commands five times, of which the median counts. Written to ``results/first_hour.json``. Quiet machines only.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tools.result_facts import facts  # noqa: E402

RESULT = ROOT / "benchmarks/results/first_hour.json"
ALLOWED = {"list": 0.3, "--help": 0.3, "": 0.4, "check, unchanged": 1.5, "check, edited": 3.0,
           "demo, cold": 120.0, "demo, warm": 20.0}  # fmt: skip


def main() -> None:
    """Measure, print, write."""
    with tempfile.TemporaryDirectory(prefix="first-hour-") as name:
        home, clone = Path(name, "home"), Path(name, "course")
        home.mkdir()
        subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{ROOT}", str(clone)], check=True)
        env = {k: v for k, v in os.environ.items() if not k.startswith("COURSE_") and k != "VIRTUAL_ENV"}
        env |= {"HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache"), "COURSE_WORK": str(clone / "work")}

        def run(*words: str) -> float:
            begun = time.monotonic()
            done = subprocess.run(["./course", *words], cwd=clone, env=env, capture_output=True, text=True)
            assert done.returncode == 0, (words, done.stdout, done.stderr)
            return time.monotonic() - begun

        found = {"demo, cold": run("demo"), "demo, warm": run("demo")}
        for words in (["list"], ["--help"], []):
            found[" ".join(words)] = statistics.median(run(*words) for _ in range(5))
        mine = clone / "work/03_square_kernel.py"
        mine.parent.mkdir(exist_ok=True)
        shutil.copy(clone / "solutions/03_square_kernel/solution.py", mine)
        run("check", "03")
        found["check, unchanged"] = statistics.median(run("check", "03") for _ in range(5))
        edited = []
        for k in range(3):
            mine.write_text(
                mine.read_text("utf-8").replace("__global__", f"// edit {k}\n__global__", 1), "utf-8"
            )
            edited.append(run("check", "03"))
        found["check, edited"] = statistics.median(edited)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run("dev", "check", "03")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = {"user": after.ru_utime - before.ru_utime, "system": after.ru_stime - before.ru_stime}
    rows = {k: {"seconds": round(v, 2), "allowed": ALLOWED[k]} for k, v in found.items()}
    told = facts("python benchmarks/first_hour.py", "torch") | {
        "seconds": rows,
        "dev check 03": {k: round(v, 1) for k, v in processor.items()},
    }
    RESULT.write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    print(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
