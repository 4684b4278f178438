"""The reports of a batch as files: a student's the moment the grading is over, the class's at the end."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

from grader.domain import disk
from grader.reports import formats
from grader.reports.row import Class, Row, StudentResult
from grader.teaching.batch import class_rows
from grader.teaching.batch.results_folder import ResultsFolder

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from grader.domain.verdict import Verdict


def write_student(results: ResultsFolder, row: Row, verdict: Verdict, wanted: Iterable[str] = ()) -> None:
    """Write one student's files for one lesson: the usual ones, and those of the formats ``wanted``."""
    folder = results.student(row.student, row.lesson)
    profile = (folder / "profile" / "roofline.png").exists()
    result = StudentResult(row, verdict, profile=profile, replay=(folder / "replay.html").exists())
    for one in formats.of_student().values():
        if one.needs_grade and row.state in ("unclear", "not_gradable") and not row.final:
            (folder / one.file).unlink(missing_ok=True)
        elif one.always or one.name in wanted:
            disk.write(folder / one.file, one.write(result))


def write_class(results: ResultsFolder, result: Class, wanted: Iterable[str] = ()) -> list[Path]:
    """Write the class's files: the usual ones, and those of the formats ``wanted``; their paths."""
    written = []
    for one in formats.of_class().values():
        if one.always or one.name in wanted:
            disk.write(results.reports / one.file, one.write(result))
            written.append(results.reports / one.file)
    return written


def write_again(root: Path, wanted: tuple[str, ...]) -> tuple[Class, list[Path]]:
    """Write the reports of a folder of results once more, grading nothing; students' files if asked for."""
    results = ResultsFolder(root)
    result = class_rows.collect(results)
    update_decided(results, result)
    if any(name in wanted for name in formats.of_student()):
        for row in result.rows:
            if row.key:
                write_student(results, row, results.verdict(row.key), wanted)
    return result, write_class(results, result, wanted)


def update_decided(results: ResultsFolder, result: Class) -> None:
    """Write the files of the students about whom something is, or was, decided by hand."""
    path = results.root / "decided.json"
    before: set[str] = set()
    with contextlib.suppress(OSError, ValueError):
        before = set(json.loads(path.read_text("utf-8")))
    now = {row.student for row in result.rows if row.by_hand}
    for row in result.rows:
        if row.student in now | before and row.key:
            write_student(results, row, results.verdict(row.key))
    if now != before:
        disk.write(path, json.dumps(sorted(now)) + "\n")
