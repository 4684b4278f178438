"""Seconds that a stranger waits in the first hour: small commands, a check, the demo cold and warm.

    python benchmarks/first_hour.py [--rest 6] [--json F]

Everything is done in a clean clone with an empty home and cache, by ``./course`` as it is typed; small
commands five times, of which the median counts. Before each check it rests, as somebody who reads the last
one does: then the players that wait have imported torch. *At once* is without that rest. Quiet machines only.
"""

from __future__ import annotations

import argparse
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
           "check, unchanged, at once": 1.5, "check, edited, at once": 3.0,
           "demo, cold": 120.0, "demo, warm": 20.0}  # fmt: skip


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rest", type=float, default=6.0, metavar="SECONDS", help="before each check")
    parser.add_argument("--json", type=Path, default=RESULT, metavar="F", help="where the numbers go")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="first-hour-") as name:
        home, clone = Path(name, "home"), Path(name, "course")
        home.mkdir()
        subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{ROOT}", str(clone)], check=True)
        ours = ("COURSE_", "VIRTUAL_ENV", "PYTHON")
        env = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
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

        def check(rest_s: float, edit: str = "") -> float:
            if edit:
                text = mine.read_text("utf-8")
                mine.write_text(text.replace("__global__", f"// {edit}\n__global__", 1), "utf-8")
            time.sleep(rest_s)
            return run("check", "03")

        for rest_s, when in ((chosen.rest, ""), (0.0, ", at once")):
            found[f"check, unchanged{when}"] = statistics.median(check(rest_s) for _ in range(5))
            edited = [check(rest_s, f"edit {k}{when}") for k in range(3)]
            found[f"check, edited{when}"] = statistics.median(edited)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run("dev", "check", "03")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = {"user": after.ru_utime - before.ru_utime, "system": after.ru_stime - before.ru_stime}
    rows = {k: {"seconds": round(v, 2), "allowed": ALLOWED[k]} for k, v in found.items()}
    told = facts(f"python benchmarks/first_hour.py --rest {chosen.rest:g}", "torch") | {
        "seconds": rows,
        "dev check 03": {k: round(v, 1) for k, v in processor.items()},
    }
    chosen.json.write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    print(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
