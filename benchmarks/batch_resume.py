"""How long a batch takes to go on where it was: a term's submissions, nearly all of them graded before.

    python benchmarks/batch_resume.py [--students 1072] [--left 2] [--json FILE]

Each student has handed in every lesson, and no two files are equal. A journal with a made-up verdict for all
but the last few is written by the batch's own plan and keys. Then the real command runs: ``until_grading_s``
is from its start until it says what is left to do, and ``nothing_left_s`` that of a whole run, reports
included, when nothing is left. It has run once before, so that the tasks of what is left are tried and
remembered as they are in a batch that was interrupted. ``_cpu_s`` is the time of a processor that the
command's own process has had, which other work on the machine changes less. Memory is that process's peak.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import msgspec  # noqa: E402

from benchmarks.batch_report import verdict  # noqa: E402
from grader.domain import disk, lessons  # noqa: E402
from grader.domain.options import GradingOptions  # noqa: E402
from grader.reports.row import summary  # noqa: E402
from grader.teaching.batch import batch_plan, batch_run  # noqa: E402
from grader.teaching.batch.batch_plan import Settings  # noqa: E402
from grader.teaching.batch.batch_request import Request, settled  # noqa: E402
from grader.teaching.batch.journal import Line  # noqa: E402
from grader.teaching.batch.results_folder import ResultsFolder  # noqa: E402
from tools.result_facts import facts  # noqa: E402


def hand_in(folder: Path, students: int) -> None:
    """A folder a student with a file a lesson; each differs from the others by a comment."""
    texts = {name: lessons.find(name).solution.read_text() for name in lessons.names()}
    for n in range(students):
        own = folder / f"u{n:05d}"
        own.mkdir(parents=True)
        for name, text in texts.items():
            (own / f"{name[:2]}.py").write_text(f"{text}\n# student {n}\n")


def grade_before(folder: Path, out: Path) -> list[str]:
    """Write a verdict, and the students' folders, for every entry; the journal's lines."""
    results, draw, lines = ResultsFolder(out), random.Random(8), []
    request = settled(Request(folder, out, ("all",), GradingOptions(backend="simt")))
    found = batch_run.handed_in(request, results)
    wanted = [lessons.find(name) for name in request.lessons]
    plan = batch_plan.make(found.files, wanted, Settings(request.options, "cpu"), request.policy)
    for entry in plan.entries:
        made = replace(verdict(draw), lesson=entry.lesson)
        data = json.dumps(made.as_json(), allow_nan=False).encode()
        disk.write(results.verdict_path(entry.key), data)
        results.student(entry.student, entry.lesson).mkdir(parents=True)
        digest, short = hashlib.sha256(data).hexdigest()[:16], msgspec.structs.asdict(summary(made))
        line = Line(key=entry.key, subject=entry.subject, lesson=entry.lesson, digest=digest, **short)
        lines.append(line.text())
    return lines


class Run(NamedTuple):
    """Seconds, seconds of a processor and MiB of one run of the command, as far as it was watched."""

    wall_s: float
    cpu_s: float
    peak_mib: float


def used(pid: int) -> tuple[float, float]:
    """Seconds of a processor and the most memory (MiB) of this process itself; 0 if it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0, 0.0
    peak = sum(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), peak


def run(folder: Path, out: Path, *, stop: bool) -> Run:
    """The command in a process of its own, to its end or until it says what is left."""
    words = ["batch", str(folder), "--lesson", "all", "--out", str(out), "--backend", "simt"]
    begun, cpu, peak, said = time.monotonic(), 0.0, 0.0, ""
    with (
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen(
            [sys.executable, "-m", "grader", *words], cwd=ROOT, stderr=log, stdout=subprocess.DEVNULL
        ) as running,
    ):
        while running.poll() is None:
            time.sleep(0.02)
            now = used(running.pid)
            cpu, peak = max(cpu, now[0]), max(peak, now[1])
            log.seek(0)
            said = log.read()
            if stop and "gradings to do" in said:
                seconds = time.monotonic() - begun
                running.send_signal(signal.SIGINT)
                running.wait()
                return Run(seconds, cpu, peak)
    if stop or running.returncode:
        sys.exit(f"The batch ended otherwise than it should. {said}")
    return Run(time.monotonic() - begun, cpu, peak)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--students", type=int, default=1072)
    parser.add_argument("--left", type=int, default=2, help="gradings that are still to be done")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder, out = Path(place) / "class", Path(place) / "results"
        hand_in(folder, options.students)
        lines = grade_before(folder, out)
        journal = ResultsFolder(out).journal
        journal.write_text("\n".join(lines[: -options.left]) + "\n")
        run(folder, out, stop=True)
        load = round(os.getloadavg()[0], 1)
        until = run(folder, out, stop=True)
        journal.write_text("\n".join(lines) + "\n")
        whole = run(folder, out, stop=False)
    command = f"python benchmarks/batch_resume.py --students {options.students}"
    result = {
        **facts(command, "distributed", "msgspec", "matplotlib"),
        "students": options.students, "lessons": len(lessons.names()), "rows": len(lines),
        "left": options.left, "until_grading_s": round(until.wall_s, 2),
        "until_grading_cpu_s": round(until.cpu_s, 2), "nothing_left_s": round(whole.wall_s, 2),
        "nothing_left_cpu_s": round(whole.cpu_s, 2), "peak_mib": round(whole.peak_mib), "load": load,
    }  # fmt: skip
    print(json.dumps(result, indent=1))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
