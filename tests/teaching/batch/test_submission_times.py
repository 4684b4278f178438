"""Dates are what the platform or git says, never what a copy's files have; and who is who in such files."""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from pathlib import Path

import pytest

from grader.domain.errors import BadInputError
from grader.domain.lessons import names
from grader.teaching.batch import layouts, roster, submission_times
from grader.teaching.batch.student_files import StudentFile

SEVEN = "07_fused_bias_relu"
PATH = Path("x.py")
EVENING = 1_795_211_280.0  # 2026-11-20 21:48 UTC


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


def test_the_dates_of_files_and_of_archives_do_not_count(tmp_path: Path) -> None:
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "ann.py").write_text("pass")
    with zipfile.ZipFile(folder / "ben.zip", "w") as archive:
        archive.writestr(zipfile.ZipInfo("07.py", (2020, 1, 1, 0, 0, 0)), "pass")
    os.utime(folder / "ben.zip", (EVENING, EVENING))
    found = layouts.read(folder, [SEVEN], names(), tmp_path / "room").files
    assert [one.when for one in found] == [None, None] and all(one.path for one in found)
    by_files = {one.student: one.when for one in submission_times.applied(found, "files")}
    assert by_files["ben"] == EVENING  # of the archive as it lies there, not of what is in it


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-20T21:48:00Z", "2026-11-20T13:48:00-08:00", "2026-11-20 21:48:00 UTC", "2026-11-20 21:48",
        "2026-11-20 13:48:00 -0800", "Friday, 20 November 2026, 9:48 PM", "20 November 2026, 21:48",
        "Nov 20, 2026 at 9:48pm", "1795211280",
    ],
)  # fmt: skip
def test_dates_as_platforms_write_them(text: str) -> None:
    assert submission_times.moment_of(text) == EVENING


def times_from(path: Path, text: str, *handed: StudentFile) -> list[float | None]:
    path.write_text(text)
    return [one.when for one in submission_times.applied(handed, str(path))]


def test_files_of_platforms(tmp_path: Path) -> None:
    moodle = (
        "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
        "Last modified (submission),Last modified (grade),Feedback comments\n"
        "Participant 111,Jane Doe,jane@x.org,Submitted for grading,,20.00,Yes,"
        '"Friday, 20 November 2026, 9:48 PM",-,\n'
        "Participant 112,Rick Roe,rick@x.org,No submission,,20.00,Yes,-,-,\n"
    )
    handed = [StudentFile(k, SEVEN, PATH, ids={"moodle": k}) for k in ("111", "112")]
    assert times_from(tmp_path / "m.csv", moodle, *handed) == [EVENING, None]
    gradescope = (
        "First Name,Last Name,SID,Email,Sections,Total Score,Max Points,Status,Submission ID,"
        "Submission Time\n"
        "Jane,Doe,11,jane@x.org,,,20,Ungraded,7,2026-11-20 13:48:00 -0800\n"
    )
    assert times_from(tmp_path / "g.csv", gradescope, StudentFile("11", SEVEN, PATH)) == [EVENING]
    canvas = [
        {"id": 1002, "user_id": 1001, "submitted_at": "2026-11-20T21:48:00Z", "late": False},
        {"id": 1001, "user_id": 1002, "submitted_at": None},
    ]  # the number of a submission is nobody's
    handed = [StudentFile(k, SEVEN, PATH, ids={"canvas": k}) for k in ("1001", "1002")]
    assert times_from(tmp_path / "c.json", json.dumps(canvas), *handed) == [EVENING, None]
    for text, said in (
        ("student,mark\nann,1\n", "no times"),
        ("student,time\nann,soon\n", "'soon' is no time"),
    ):
        (tmp_path / "x.csv").write_text(text)
        with pytest.raises(BadInputError, match=said):
            submission_times.read(tmp_path / "x.csv")


def test_git_says_when_a_file_was_committed(tmp_path: Path) -> None:
    home = tmp_path / "ann"
    home.mkdir()
    (home / "07.py").write_text("pass")
    env = os.environ | {
        "GIT_COMMITTER_DATE": f"@{EVENING:.0f} +0000", "GIT_AUTHOR_DATE": "@5 +0000", "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@x", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@x",
    }  # fmt: skip
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "x", "--no-gpg-sign"]):
        subprocess.run(["git", "-C", home, *words], env=env, check=True)
    one = StudentFile("ann", SEVEN, home / "07.py")
    other = StudentFile("ben", SEVEN, tmp_path / "ben.py")
    assert [x.when for x in submission_times.applied([one, other], "git")] == [EVENING, None]


def test_equal_dates_and_dates_that_lack_are_told() -> None:
    same = [StudentFile(str(k), SEVEN, PATH, when=EVENING + k) for k in range(4)]
    assert "same time" in submission_times.warning(same, due=True)
    apart = [StudentFile(str(k), SEVEN, PATH, when=EVENING + 3600 * k) for k in range(4)]
    assert submission_times.warning(apart, due=True) == ""
    assert "1 of 5" in submission_times.warning([*apart, StudentFile("x", SEVEN, PATH)], due=True)


CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Lesson 7 (55)\n"
    "    Points Possible,,,,,20\n"
    '"Doe, Jane",1001,20231111,jdoe,A,\n"Roe, Rick",20231111,20239999,rroe,B,\n'
)


def test_numbers_of_one_platform_are_not_those_of_another(tmp_path: Path) -> None:
    """Rick's Canvas number is Jane's number at the university; neither gets the other's points."""
    (tmp_path / "class.csv").write_text(CANVAS)
    people = roster.read(tmp_path / "class.csv")
    assert people[0].ids == {"canvas": "1001", "sis": "20231111", "login": "jdoe"}
    handed = [
        StudentFile("20231111", SEVEN, PATH, name="x", ids={"canvas": "20231111"}),
        StudentFile("1001", SEVEN, PATH, ids={"canvas": "1001"}),
    ]
    rows = roster.join(handed, people, [SEVEN])
    assert [(row.name, row.ids["login"]) for row in rows] == [("Roe, Rick", "rroe"), ("Doe, Jane", "jdoe")]
    (by_sis,) = roster.join(
        [StudentFile("20239999", SEVEN, PATH, ids={"sis": "20239999"})], people[1:], [SEVEN]
    )
    assert by_sis.name == "Roe, Rick"


def test_who_lacks_a_file_gets_no_0_while_one_is_nobodys(tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_text("id,name\nann,Ann\nben,Ben\n")
    people = roster.read(tmp_path / "class.csv")
    rows = roster.join([StudentFile("annn", SEVEN, PATH)], people, [SEVEN])
    held = {row.student: row.held for row in rows}
    assert "annn is not on the class list" in held["ann"] and held["annn"] == ""
    (only,) = roster.join([StudentFile("ann", SEVEN, PATH)], people[:1], [SEVEN])
    assert only.held == ""
