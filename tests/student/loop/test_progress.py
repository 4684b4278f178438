from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from grader.domain.verdict import Finding, Status, Verdict
from grader.student import progress
from tests.speeds import predicted

if TYPE_CHECKING:
    from pathlib import Path

    from grader.domain.speed import Speed


def verdict(points: int, status: Status = Status.WRONG_OUTPUT, speed: Speed | None = None) -> Verdict:
    findings = (Finding("a", Status.PASSED if points == 20 else status, "", points, 20),)
    return Verdict("03_square_kernel", "mine.py", "simt", "a CPU", findings, 1.0, speed=speed)


def test_the_best_verdict_stays(work_folder: Path) -> None:
    for points in (4, 12, 8):
        progress.record(verdict(points))
    line = progress.read().line("03_square_kernel")
    assert (line.points, line.most, line.tries, line.passed) == (12, 20, 3, False)
    progress.record(verdict(20))
    progress.record(verdict(4))
    line = progress.read().line("03_square_kernel")
    assert (line.status, line.points, line.tries) == ("passed", 20, 5)


def test_the_file_is_for_people(work_folder: Path) -> None:
    progress.record(verdict(20))
    text = (work_folder / "progress.txt").read_text()
    assert text.splitlines()[0].startswith("# ")
    assert re.search(
        r"^03_square_kernel +passed +20/20  tries 1  hints 0  \d{4}-\d\d-\d\d \d\d:\d\d$", text, re.M
    )


def test_a_merge_that_keeps_both_lines_keeps_the_better_one() -> None:
    merged = progress.parse(
        "03_square_kernel passed 20/20  tries 3  hints 0  2026-01-01 10:00\n"
        "03_square_kernel failed 7/20  tries 9  hints 2  2026-02-01 10:00\n"
    )
    line = merged.line("03_square_kernel")
    assert (line.points, line.tries, line.hints, line.when) == (20, 9, 2, "2026-01-01 10:00")


def test_what_is_not_understood_is_kept() -> None:
    text = progress.parse(
        "<<<<<<< HEAD\n03_square_kernel passed 20/20  tries 1  hints 0\nmy own note\n"
    ).text()
    assert "<<<<<<< HEAD\n" in text
    assert "my own note\n" in text
    assert progress.parse(text).text() == text


@given(st.text())
def test_any_text_can_be_read_and_written_again(text: str) -> None:
    once = progress.parse(text).text()
    assert progress.parse(once).text() == once


def test_predictions_meet_what_was_found(work_folder: Path) -> None:
    kept = progress.read()
    kept.guesses[("03_square_kernel", "kernel_ratio")] = progress.Guess(
        "03_square_kernel", "kernel_ratio", 3.0
    )
    kept.save()
    progress.record(verdict(20, speed=predicted(kernel_ratio=0.98765)))
    assert progress.read().guesses[("03_square_kernel", "kernel_ratio")].found == 0.9877
    assert "predicted 03_square_kernel kernel_ratio 3 found 0.9877\n" in progress.path().read_text()
