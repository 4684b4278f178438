"""``course batch --replay``: beside the page of each student whose kernel went wrong, one that plays it."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from grader.reports import wording
from grader.teaching.batch import report_files

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.domain.options import GradingOptions
    from grader.reports.row import Class, Row
    from grader.teaching.batch.results_folder import ResultsFolder

FILE = "replay.html"
TIMEOUT_S = 180.0


def make(results: ResultsFolder, result: Class, options: GradingOptions, say: Callable[[str], None]) -> int:
    """Record what failed with something to see and has no replay yet; how many pages were made.

    Each is a command of its own, as a student would type it, in the sandbox that every grading has.
    """
    todo = [row for row in result.rows if row.key and not row.passed and _shows(results, row)]

    def one(row: Row) -> bool:
        page = results.student(row.student, row.lesson) / FILE
        if trouble := _replay(Path(row.file), row.lesson[:2], page, options, row.student):
            say(f"{row.student}, {row.lesson}: no replay. {trouble}")
            return False
        report_files.write_student(results, row, results.verdict(row.key))
        return True

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return sum(pool.map(one, todo))


def _shows(results: ResultsFolder, row: Row) -> bool:
    there = (results.student(row.student, row.lesson) / FILE).exists()
    return not there and bool(wording.replay_offer(results.verdict(row.key)))


def _replay(file: Path, number: str, page: Path, options: GradingOptions, student: str) -> str:
    """Run ``course replay``; why there is no page, or ""."""
    words = ["replay", number, str(file), "--out", str(page), "--sandbox", options.sandbox]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "grader", *words, "--student", student],
            capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"It took more than {TIMEOUT_S:.0f} s."
    if page.exists():
        return ""
    return (done.stderr.strip() or done.stdout.strip() or "It wrote nothing.").splitlines()[-1]
