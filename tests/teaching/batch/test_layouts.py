"""Every layout that a class comes in, and what is odd in it: a row with a reason, never a stop."""

from __future__ import annotations

import os
import zipfile
from typing import TYPE_CHECKING

import pytest

from grader.domain import submission
from grader.domain.errors import BadInputError
from grader.domain.lessons import names
from grader.teaching.batch import layouts, unpack
from grader.teaching.batch.student_files import StudentFile, lesson_named

if TYPE_CHECKING:
    from pathlib import Path

KNOWN = names()
SEVEN = "07_fused_bias_relu"


def read(folder: Path, layout: str = "auto", lesson: str = SEVEN) -> dict[str, StudentFile]:
    return {h.student: h for h in layouts.read(folder, [lesson], KNOWN, layout)}


def put(folder: Path, *paths: str) -> Path:
    for k, path in enumerate(paths):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(f"# {path}\n")
        os.utime(folder / path, (1_000_000 + k, 1_000_000 + k))
    return folder


@pytest.mark.parametrize(
    "word, lesson",
    [
        ("07.py", SEVEN), ("7.py", SEVEN), ("07_v2.py", SEVEN), ("hw7.py", SEVEN),
        ("my_lesson_07.ipynb", SEVEN), ("07_fused_bias_relu", SEVEN), ("Fused-Bias-ReLU (1).py", SEVEN),
        ("exercise.py", ""), ("alex12.py", ""), ("99.py", ""), ("2024_essay.py", ""),
    ],
)  # fmt: skip
def test_names_that_speak_of_a_lesson(word: str, lesson: str) -> None:
    assert lesson_named(word, KNOWN) == lesson


def test_one_file_a_student(tmp_path: Path) -> None:
    found = read(put(tmp_path, "alice.py", "bob.ipynb", "notes.txt", ".hidden.py", "user_07.py"))
    assert sorted(found) == ["alice", "bob", "user_07"]
    assert layouts.recognise(tmp_path) == "files"


def test_files_that_all_begin_with_a_number(tmp_path: Path) -> None:
    found = read(put(tmp_path, "07_alice.py", "03_alice.py", "07-bob.py"))
    assert {k: v.path.name for k, v in found.items() if v.path} == {
        "alice": "07_alice.py",
        "bob": "07-bob.py",
    }


def test_one_folder_a_student(tmp_path: Path) -> None:
    put(
        tmp_path, "ann/07.py", "ann/03.py",
        "ben/07_fused_bias_relu/exercise.py", "ben/03_square_kernel/exercise.py",
        "cleo/exercise.py", "dora/my stuff.py", "eve/07.py", "eve/07 (copy).py", "finn/a.py", "finn/b.py",
        "gus/03.py", "hana/readme.md",
    )  # fmt: skip
    found = read(tmp_path)
    paths = {k: str(v.path.relative_to(tmp_path)) for k, v in found.items() if v.path}
    assert paths == {
        "ann": "ann/07.py", "ben": "ben/07_fused_bias_relu/exercise.py", "cleo": "cleo/exercise.py",
        "dora": "dora/my stuff.py", "eve": "eve/07 (copy).py",
    }  # fmt: skip
    assert found["dora"].notes == ("Renamed: my stuff.py was taken for the lesson.",)
    assert found["eve"].notes == ("Duplicate: 07 (copy).py is the newest and was graded, not 07.py.",)
    assert "a.py, b.py" in found["finn"].problem and "No file is for lesson 07" in found["gus"].problem
    assert found["hana"].problem == "There is no .py or .ipynb file."


def test_links_are_not_followed(tmp_path: Path) -> None:
    put(tmp_path, "class/ann/x.txt", "secret/07.py", "class/bob.txt")
    (tmp_path / "class/ann/07.py").symlink_to(tmp_path / "secret/07.py")
    (tmp_path / "class/mallory").symlink_to(tmp_path / "secret")
    (tmp_path / "class/zoe.py").symlink_to(tmp_path / "secret/07.py")
    found = read(tmp_path / "class")
    assert sorted(found) == ["ann", "zoe"] and not any(h.path for h in found.values())
    assert "only links" in found["ann"].problem and "a link" in found["zoe"].problem


def test_gradescope(tmp_path: Path) -> None:
    put(tmp_path, "submission_1/07.py", "submission_2/exercise.py", "submission_3/x.txt")
    (tmp_path / "submission_metadata.yml").write_text(
        "submission_1:\n  :submitters:\n  - :name: Ann A\n    :sid: '11'\n    :email: ann@x.org\n"
        "  :created_at: 2026-11-20 21:48:31.184312000 Z\n  :score: 0.0\n"
        "submission_2:\n  :submitters:\n  - :name: Ben\n    :sid: '12'\n"
        "  - :name: Cleo\n    :email: c@x.org\n"
        "  :created_at: !ruby/object:ActiveSupport::TimeWithZone\n    utc: 2026-11-20 21:48:31 Z\n"
        "submission_9:\n  :submitters:\n  - :name: Lost\n    :sid: '19'\n"
    )
    found = read(tmp_path)
    assert layouts.recognise(tmp_path) == "gradescope"
    assert sorted(found) == ["11", "12", "19", "c@x.org", "submission_3"]
    assert found["11"].when == pytest.approx(1795211311.18, abs=0.1) and found["11"].name == "Ann A"
    assert found["12"].path == found["c@x.org"].path and "A group of 2" in found["12"].notes[0]
    assert "folder is missing" in found["19"].problem


def test_canvas(tmp_path: Path) -> None:
    put(
        tmp_path, "doejane_1001_55_exercise.py", "doejane_1001_55_notes.py", "roerick_LATE_1002_56_07-1.py",
        "roerick_LATE_1002_56_07-3.py", "zoe_1003_57_my_work.ipynb", "zip_1004_58_all.zip",
    )  # fmt: skip
    with zipfile.ZipFile(tmp_path / "zip_1004_58_all.zip", "w") as archive:
        archive.writestr("work/07.py", "pass\n")
    found = read(tmp_path)
    assert layouts.recognise(tmp_path) == "canvas"
    names_of = {k: h.path.name for k, h in found.items() if h.path}
    assert names_of == {
        "1001": "doejane_1001_55_exercise.py", "1002": "roerick_LATE_1002_56_07-3.py",
        "1003": "zoe_1003_57_my_work.ipynb", "1004": "07.py",
    }  # fmt: skip
    assert found["1002"].late and not found["1001"].late and found["1001"].name == "doejane"


def test_moodle(tmp_path: Path) -> None:
    put(
        tmp_path,
        "Jane Doe_111_assignsubmission_file_/07.py",
        "Rick Roe_112_assignsubmission_file_exercise.py",
        "Tim Text_113_assignsubmission_onlinetext_/onlinetext.html",
    )  # fmt: skip
    found = read(tmp_path)
    assert layouts.recognise(tmp_path) == "moodle"
    assert found["111"].name == "Jane Doe" and found["111"].path and found["112"].path
    assert "no file" in found["113"].problem


def test_a_zip_with_a_folder_around_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        archive.writestr("class/ann/07.py", "pass\n")
        archive.writestr("class/ben/07.py", "pass\n")
        archive.writestr("../../outside.py", "pass\n")
        archive.writestr("class/huge/07.py", b"x" * (unpack.MOST_BYTES + 1))
    found = read(unpack.as_folder(tmp_path / "class.zip", tmp_path / "room"))
    assert sorted(found) == ["ann", "ben", "huge"]
    assert not (tmp_path / "outside.py").exists()
    huge = found["huge"].path
    assert huge is not None
    assert huge.stat().st_blocks == 0
    with pytest.raises(BadInputError, match="larger than 2 MiB"):
        submission.read(huge)


def test_what_is_no_zip_and_what_is_no_class(tmp_path: Path) -> None:
    (tmp_path / "bad.zip").write_bytes(b"PK\x03\x04 no")
    with pytest.raises(BadInputError, match="not a zip file"):
        unpack.as_folder(tmp_path / "bad.zip", tmp_path / "room")
    with pytest.raises(BadInputError, match="There is no"):
        unpack.as_folder(tmp_path / "none", tmp_path / "room")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInputError, match="No submissions"):
        read(tmp_path / "empty")
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        for k in range(9):
            archive.writestr(f"{k}.py", b"0" * (1 << 20))
    with pytest.raises(BadInputError, match="more than a class"):
        unpack.unpack(bomb, tmp_path / "into", in_all=4 << 20)
    with pytest.raises(BadInputError, match="has 9 files"):
        unpack.unpack(bomb, tmp_path / "into", files=8)


def test_two_of_one_name_are_two_rows(tmp_path: Path) -> None:
    put(tmp_path, "ann.py", "ann/07.py")
    found = read(tmp_path, "folders")
    assert sorted(found) == ["ann", "ann-2"] and "Duplicate" in found["ann-2"].notes[0]
