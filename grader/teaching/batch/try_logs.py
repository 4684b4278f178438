"""The students' own logs of tries, as far as they were handed in: claims, kept apart from all results."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from grader.domain import disk, try_log, typed_data
from grader.reports.row import CheckTries, Tries

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from grader.reports.row import Row
    from grader.teaching.batch.results_folder import ResultsFolder
    from grader.teaching.batch.student_files import StudentFile


def keep(results: ResultsFolder, handed: Iterable[StudentFile]) -> None:
    """Write what the logs say of the lessons that are graded; a file of several students counts for one."""
    owners: dict[Path, str] = {}
    wanted: dict[str, set[str]] = defaultdict(set)
    for one in handed:
        if one.log and owners.setdefault(one.log, one.student) == one.student:
            wanted[one.student].add(one.lesson)
    if not owners and not results.tries.exists():
        return
    found = []
    for path, student in owners.items():
        said = try_log.by_lesson(try_log.read(path).lines)
        for lesson in sorted(wanted[student] & said.keys()):
            claimed = said[lesson]
            checks = tuple(
                CheckTries(disk.legible(name), n, round(claimed.check_s[name] / 60, 1))
                for name, n in claimed.failed.most_common()
            )
            found.append(Tries(student, lesson, claimed.tries, round(claimed.seconds / 60, 1), checks))
    disk.write(results.tries, msgspec.json.encode(found))


def read(results: ResultsFolder, rows: Iterable[Row]) -> tuple[Tries, ...]:
    """What was kept, for the rows that are there, and of their lessons' checks only; nothing if damaged."""
    try:
        kept = typed_data.decode(results.tries.read_bytes(), tuple[Tries, ...])
    except (OSError, ValueError):
        return ()
    there, names = set[tuple[str, str]](), defaultdict[str, set[str]](set)
    for row in rows:
        there.add((row.student, row.lesson))
        names[row.lesson].update(check.id for check in row.checks)
    return tuple(
        replace(one, checks=tuple(c for c in one.checks if c.id in names[one.lesson]))
        for one in kept
        if (one.student, one.lesson) in there
    )
