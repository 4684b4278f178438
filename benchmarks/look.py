"""How long the static look takes, and what it says of files that are right.

    python benchmarks/look.py [--runs 5] [--json benchmarks/results/look.json]

Every solution and alternative of the course, every file of the corpus, and the largest file that is read:
the median of ``--runs`` looks for each; shown are the median and the slowest file of each group. Budget:
50 ms.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from grader.domain.lessons import every  # noqa: E402
from grader.domain.submission import Submission  # noqa: E402
from grader.feedback.look import look  # noqa: E402
from grader.feedback.look.first_look import MAX_CHARACTERS  # noqa: E402
from tools.result_facts import facts  # noqa: E402

if TYPE_CHECKING:
    from grader.domain.task import Task

FUNCTION = "__global__ void k{i}(float* p, int n) {{ int i = threadIdx.x; if (i < n) p[i] = {i}; }}\n"


def milliseconds(source: str, task: Task, runs: int) -> tuple[float, int]:
    submission = Submission(Path("mine.py"), source, "")
    times, advice = [], 0
    for _ in range(runs):
        begun = time.perf_counter()
        advice = len(look(submission, task))
        times.append(1e3 * (time.perf_counter() - begun))
    return statistics.median(times), advice


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    lessons = every()
    groups: dict[str, list[tuple[str, str, Task]]] = {"solutions": [], "corpus": [], "large": []}
    for lesson in lessons:
        for path in sorted(lesson.solution.parent.rglob("*.py")):
            groups["solutions"].append((str(path.relative_to(ROOT)), path.read_text(), lesson.task))
    for path in sorted((ROOT / "tests" / "corpus").rglob("*.py")):
        if {"cheats", "honest"} & set(path.parts):
            groups["corpus"].append((str(path.relative_to(ROOT)), path.read_text(), lessons[2].task))
    body = "".join(FUNCTION.format(i=i) for i in range(8 * MAX_CHARACTERS))[: 8 * MAX_CHARACTERS]
    groups["large"].append(("128 KiB of CUDA C++", f'text = r"""{body}"""\n', lessons[2].task))
    record: dict[str, object] = {}
    for name, files in groups.items():
        seen = {f: milliseconds(source, task, options.runs) for f, source, task in files}
        slowest = max(seen, key=lambda f: seen[f][0])
        middle = statistics.median(t for t, _ in seen.values())
        remarks = sum(n for _, n in seen.values())
        print(
            f"{name:10} {len(files):4} files  median {middle:6.2f} ms  slowest {seen[slowest][0]:6.2f} ms,"
            f" {slowest}; {remarks} remarks"
        )
        record[name] = {
            "files": len(files),
            "median_ms": round(middle, 3),
            "slowest_ms": round(seen[slowest][0], 3),
            "slowest": slowest,
            "remarks": remarks,
        }
    if options.json:
        whole = facts("python benchmarks/look.py --json FILE") | {"groups": record}
        options.json.write_text(json.dumps(whole, indent=1) + "\n")


if __name__ == "__main__":
    main()
