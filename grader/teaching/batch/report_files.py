"""The reports of a batch as files: a student's the moment the grading is over, the class's at the end."""

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING

import msgspec

from grader.domain import disk, lessons, typed_data
from grader.reports import formats
from grader.reports.row import Class, Row, StudentResult
from grader.teaching.batch import batch_work, class_rows
from grader.teaching.batch.results_folder import ResultsFolder

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from grader.domain.verdict import Verdict


def write_student(results: ResultsFolder, row: Row, verdict: Verdict, wanted: Iterable[str] = ()) -> None:
    """Write one student's files for one lesson: the usual ones, those of the formats ``wanted``,
    and those that are there already, so that none says what was true once."""
    folder = results.student(row.student, row.lesson)
    profile = (folder / "profile" / "roofline.png").exists()
    result = StudentResult(row, verdict, profile=profile, replay=(folder / "replay.html").exists())
    for one in formats.of_student().values():
        if one.needs_grade and row.grade is None:
            (folder / one.file).unlink(missing_ok=True)
        elif one.always or one.name in wanted or (folder / one.file).exists():
            disk.write(folder / one.file, one.write(result))


def write_class(results: ResultsFolder, result: Class, wanted: Iterable[str] = ()) -> list[Path]:
    """Write the class's files: the usual ones, those of the formats ``wanted``, and those that are there
    already; their paths."""
    written = []
    for one in formats.of_class().values():
        if one.always or one.name in wanted or (results.reports / one.file).exists():
            disk.write(results.reports / one.file, one.write(result))
            written.append(results.reports / one.file)
    return written


def write_again(root: Path, wanted: tuple[str, ...]) -> tuple[Class, list[Path]]:
    """Write the reports of a folder of results once more, grading nothing; students' files if asked for."""
    results = ResultsFolder(root)
    result = class_rows.collect(results)
    update_changed(results, result)
    if any(name in wanted for name in formats.of_student()):
        for row in result.rows:
            if row.key:
                write_student(results, row, results.verdict(row.key), wanted)
    return result, write_class(results, result, wanted)


def update_changed(results: ResultsFolder, result: Class) -> None:
    """Write the files of all rows again of which something else is to be said than their files say.

    What a teacher decides by hand changes it, and so do the due date, the cost of being late and times.
    """
    path = results.root / "shown.json"
    before: dict[str, str] = {}
    with contextlib.suppress(OSError, ValueError):
        before = typed_data.decode(path.read_bytes(), dict[str, str])
    now = {f"{row.student}/{row.lesson}": _said(row) for row in result.rows}
    for row in result.rows:
        key = f"{row.student}/{row.lesson}"
        # Of one that is not known the files are new, unless it was decided before this file was kept.
        if before.get(key, "" if row.by_hand else now[key]) != now[key]:
            write_student(results, row, _verdict(results, row))
    if now != before:
        disk.write(path, msgspec.json.encode(now).decode() + "\n")


def _said(row: Row) -> str:
    """What a student's files say beside the verdict, in short."""
    facts = (row.key, row.state, row.points, row.penalty, row.excused, row.final, row.first, row.remarks)
    return hashlib.sha256(msgspec.json.encode(facts)).hexdigest()[:16]


def _verdict(results: ResultsFolder, row: Row) -> Verdict:
    if row.key:
        return results.verdict(row.key)
    lesson, backend = lessons.find(row.lesson), row.backend or "simt"
    return batch_work.unreadable(lesson, row.file or "nothing", backend, row.first)
