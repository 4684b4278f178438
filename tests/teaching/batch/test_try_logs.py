"""Students' own logs of tries: shown as claims, and no log breaks a report, gains a point or loses a file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from grader.domain.lessons import names
from grader.domain.verdict import Status
from grader.reports import class_statistics, formats
from grader.reports.row import Check, Class, LessonFacts, Row
from grader.teaching.batch import layouts, roster, try_logs
from grader.teaching.batch.results_folder import ResultsFolder
from tests.domain.test_try_log import HOSTILE, at

if TYPE_CHECKING:
    from pathlib import Path

    from grader.teaching.batch.layouts import Handed

SEVEN = "07_fused_bias_relu"
LOG = b"".join(line.text() for line in (at(0, "ragged", "made up"), at(6, "ragged"), at(10)))
PASSED, WRONG = Status.PASSED, Status.WRONG_OUTPUT


def handed(folder: Path) -> Handed:
    return layouts.read(folder, [SEVEN], names(), folder.parent / "room")


def rows(*students: str) -> tuple[Row, ...]:
    checks = (Check("load", PASSED, 0, 0), Check("ragged", WRONG, 0, 20))
    return tuple(Row(s, SEVEN, "graded", WRONG, 0, 0, 20, checks=checks) for s in students)


def put(folder: Path, name: str, data: bytes) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def test_a_log_beside_the_work_is_read_as_a_claim(tmp_path: Path) -> None:
    folder, results = tmp_path / "class", ResultsFolder(tmp_path / "results")
    for student in ("ann", "ben", "cleo"):
        put(folder, f"{student}/07.py", b"x = 1\n")
    put(folder, "ann/tries.jsonl", LOG)
    put(folder, "ben/tries-2.jsonl", LOG + at(11, "ragged").text())
    put(folder, "ben/tries.jsonl", LOG)
    found = handed(folder)
    assert {(f.file, f.what) for f in found.fates if not f.look and f.file.endswith("jsonl")} == {
        ("ann/tries.jsonl", "the student's own log of tries"),
        ("ben/tries-2.jsonl", "the student's own log of tries"),
        ("ben/tries.jsonl", "not read: a longer log of tries is there"),
    }
    assert all(one.path and not one.notes for one in found.files)
    try_logs.keep(results, found.files)
    ann, ben = try_logs.read(results, rows("ann", "ben", "cleo"))
    assert (ann.student, ann.tries, ann.minutes) == ("ann", 3, 10.0)
    assert [(c.id, c.tries, c.minutes) for c in ann.checks] == [("ragged", 2, 10.0)]  # no "made up"
    assert (ben.tries, ben.minutes) == (4, 11.0)

    facts = (LessonFacts(SEVEN, "Fused", 20),)
    made = Class("x", "2026-11-21T00:00:00Z", facts, rows("ann", "ben", "cleo"), tries=(ann, ben))
    effort = class_statistics.of_class(made)[0].effort
    assert effort and (effort.logs, effort.tries.median, effort.minutes.median) == (2, 3.5, 10.5)
    assert [(c.name, c.failed, c.tries.median) for c in effort.checks] == [("ragged", 2, 2.5)]
    page = formats.of_class()["statistics"].write(made)
    assert "By the students' own logs, which nobody has checked: 2 of 3 students" in page
    assert "logs with a try that did not pass it, of 2" in page
    assert class_statistics.of_class(Class("x", "", facts, rows("ann")))[0].effort is None


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_log_breaks_nothing(what: str, tmp_path: Path) -> None:
    folder, results = tmp_path / "class", ResultsFolder(tmp_path / "results")
    put(folder, "mallory/07.py", b"x = 1\n")
    without = handed(folder).files
    put(folder, "mallory/tries.jsonl", HOSTILE[what])
    found = handed(folder)
    assert [(f.path, f.notes, f.problem) for f in found.files] == [
        (f.path, f.notes, f.problem) for f in without
    ]
    try_logs.keep(results, found.files)
    assert try_logs.read(results, rows("mallory")) == ()


def test_a_log_that_is_no_file_or_a_teachers_that_is_damaged_is_none(tmp_path: Path) -> None:
    folder, results = tmp_path / "class", ResultsFolder(tmp_path / "results")
    put(tmp_path, "elsewhere", LOG)
    for student in ("ann", "ben"):
        put(folder, f"{student}/07.py", b"x = 1\n")
    (folder / "ann/tries.jsonl").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(folder / "ben/tries.jsonl")
    found = handed(folder)
    assert [one.log for one in found.files] == [None, None]
    try_logs.keep(results, found.files)
    assert not results.tries.exists()
    put(results.root, "tries.json", b'[{"student": "ann"}]')
    assert try_logs.read(results, rows("ann")) == ()


def test_a_log_alone_is_no_work_and_one_file_is_one_students(tmp_path: Path) -> None:
    folder = tmp_path / "class"
    put(folder, "ann_07.py", b"x = 1\n")
    put(folder, "ann_tries.jsonl", LOG)
    put(folder, "ben_tries.jsonl", LOG)
    found = handed(folder)
    ann, ben = found.files
    assert (ann.student, ann.log and ann.log.name) == ("ann", "ann_tries.jsonl")
    assert (ben.student, ben.path, ben.missing) == ("ben", None, roster.NOTHING)
    assert not any(fate.look for fate in found.fates)

    results = ResultsFolder(tmp_path / "results")
    people = [roster.Person("ann", team="T"), roster.Person("eve", team="T"), roster.Person("ben")]
    joined = roster.join(found.files, people, [SEVEN])
    try_logs.keep(results, joined)
    said = try_logs.read(results, rows("ann", "ben", "eve"))
    assert sorted(one.student for one in said) == ["ann", "ben"]  # eve has ann's file, and no log
