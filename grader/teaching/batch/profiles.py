"""``course batch --profile``: a roofline and a trace beside the page of each student who passed."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from grader.teaching.batch import report_files

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.domain.options import GradingOptions
    from grader.reports.row import Class, Row
    from grader.teaching.batch.results_folder import ResultsFolder

FOLDER = "profile"
TIMEOUT_S = 180.0


def make(results: ResultsFolder, result: Class, options: GradingOptions, say: Callable[[str], None]) -> int:
    """Profile what passed and has no profile yet, and write those students' pages again; how many were made.

    Each is a command of its own, as a student would type it, in the sandbox that every grading has. A file
    that cannot be profiled keeps its page without pictures, and a sentence is said.
    """
    todo = [row for row in result.rows if row.passed and row.key and not _ready(_folder(results, row))]

    def one(row: Row) -> bool:
        trouble = _profile(Path(row.file), row.lesson[:2], _folder(results, row), options)
        if trouble:
            say(f"{row.student}, {row.lesson}: no profile. {trouble}")
            return False
        report_files.write_student(results, row, results.verdict(row.key))
        return True

    # On a GPU one at a time: two would be in each other's times.
    with ThreadPoolExecutor(1 if options.backend == "cuda" else len(os.sched_getaffinity(0))) as pool:
        return sum(pool.map(one, todo))


def _folder(results: ResultsFolder, row: Row) -> Path:
    return results.student(row.student, row.lesson) / FOLDER


def _ready(folder: Path) -> bool:
    return (folder / "roofline.png").exists() and (folder / "trace.json").exists()


def _profile(file: Path, number: str, folder: Path, options: GradingOptions) -> str:
    """Run ``course profile``; why there is no profile, or ""."""
    words = ["profile", number, str(file), "--out", str(folder)]
    words += ["--backend", options.backend, "--sandbox", options.sandbox]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "grader", *words],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"It took more than {TIMEOUT_S:.0f} s."
    if _ready(folder):
        return ""
    return (done.stderr.strip() or done.stdout.strip() or "It wrote nothing.").splitlines()[-1]
