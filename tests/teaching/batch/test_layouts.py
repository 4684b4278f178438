"""Every layout that a class comes in, and what is odd in it: a row with a reason, never a stop."""

from __future__ import annotations

import io
import os
import re
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from grader.cli.app import app
from grader.domain.errors import BadInputError
from grader.domain.lessons import names
from grader.teaching.batch import file_fates, layouts, roster, student_files, unpack
from grader.teaching.batch.student_files import StudentFile, lesson_named

if TYPE_CHECKING:
    from pathlib import Path

    from grader.teaching.batch.layouts import Handed

KNOWN = names()
SEVEN = "07_fused_bias_relu"
PATH_UNUSED, NO_SOURCE = "has a path that is not used", "No .py or .ipynb file is in it"


def handed(folder: Path, layout: str = "auto", *lessons: str) -> Handed:
    room = folder.parent / f"{folder.name}-room"
    return layouts.read(folder, list(lessons) or [SEVEN], KNOWN, room, layout)


def read(folder: Path, layout: str = "auto", lesson: str = SEVEN) -> dict[str, StudentFile]:
    """The entries by student; and every file of the folder has a fate."""
    found = handed(folder, layout, lesson)
    fates = [f.file.partition(": ")[0] for f in found.fates]
    for path in (p for p in folder.rglob("*") if p.is_file() and not p.name.startswith(".")):
        inner = str(path.relative_to(folder))
        assert any(inner == f or inner.endswith(f"/{f}") for f in fates), inner
    return {h.student: h for h in found.files}


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
        ("lesson (1).ipynb", ""), ("Copy+of+lesson+(7).ipynb", ""), ("hw7 (2).py", SEVEN),
        ("exercise.py", ""), ("alex12.py", ""), ("99.py", ""), ("2024_essay.py", ""),
    ],
)  # fmt: skip
def test_names_that_speak_of_a_lesson(word: str, lesson: str) -> None:
    assert lesson_named(word, KNOWN) == lesson


def test_a_name_is_asked_about_once_however_many_lessons_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "class", *(f"{who}/{lesson[:2]}.py" for who in ("ann", "ben") for lesson in KNOWN))
    asked: list[str] = []

    def spoken(inner: Path, known: list[str]) -> str:
        asked.append(str(inner))
        return student_files.spoken(inner, known)

    monkeypatch.setattr(file_fates, "spoken", spoken)
    found = handed(tmp_path / "class", "auto", *KNOWN)
    assert sorted(asked) == sorted(f"{lesson[:2]}.py" for lesson in KNOWN for _ in range(2))
    chosen = {(one.student, one.lesson): one.path and one.path.name for one in found.files}
    assert chosen == {(who, x): f"{x[:2]}.py" for who in ("ann", "ben") for x in KNOWN}


def test_one_file_a_student(tmp_path: Path) -> None:
    found = read(put(tmp_path, "alice.py", "bob.ipynb", "notes.txt", ".hidden.py", "user_07.py"))
    assert sorted(found) == ["alice", "bob", "notes", "user_07"]
    assert found["notes"].path is None and "no .py or .ipynb" in found["notes"].problem
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
    assert "a.py, b.py" in found["finn"].problem and not found["gus"].missing
    assert found["gus"].problem == "Only 03.py was handed in, whose name speaks of lesson 03."
    assert "no .py or .ipynb file; readme.md" in found["hana"].problem


def test_links_are_not_followed(tmp_path: Path) -> None:
    put(tmp_path, "class/ann/x.txt", "secret/07.py", "class/bob.txt")
    (tmp_path / "class/ann/07.py").symlink_to(tmp_path / "secret/07.py")
    (tmp_path / "class/mallory").symlink_to(tmp_path / "secret")
    (tmp_path / "class/zoe.py").symlink_to(tmp_path / "secret/07.py")
    found = read(tmp_path / "class")
    assert sorted(found) == ["ann", "bob", "mallory", "zoe"] and not any(h.path for h in found.values())
    assert found["ann"].problem and "only links" in found["zoe"].problem


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
    assert "folder is missing" in found["19"].problem and found["submission_3"].problem


def canvas_name(sortable: str, late: str, user: int, file: int, display: str) -> str:
    """As ``content_zipper.rb`` of Canvas makes it: small letters, then only letters, digits and _."""
    name = re.sub(r"_(\d+)_", r"\1", sortable).lower()
    whole = re.sub(r"[^\w]", "", "_".join(word for word in (name, late, str(user)) if word or word is name))
    return f"{whole}_{file}_{re.sub(r'[/:*?<>|]+', '_', display)}"


def test_canvas_names_as_canvas_makes_them(tmp_path: Path) -> None:
    people = {
        1001: ("Doe, Jane", ""), 1002: ("O'Brien-Müller, Pat", "LATE"), 1003: ("o_brien, pat", ""),
        1004: ("李, 小龙", ""), 1005: ("Roe_7_x, Rick 3rd", "LATE"), 1006: ("!?", ""),
    }  # fmt: skip
    names = [canvas_name(n, late, k, 50 + k, "07 (final)_v2.py") for k, (n, late) in people.items()]
    put(tmp_path, *names, "texter_1008_text.html", "linker_LATE_1009_link.html",
        "anon_aB3x9_62_x.py", "LATE_anon_Zz9q1_63_07.py")  # fmt: skip
    found = read(tmp_path)
    assert layouts.recognise(tmp_path) == "canvas"
    assert {k: h.late for k, h in found.items() if h.path} == {
        **{str(k): bool(late) for k, (_, late) in people.items()}, "anon_aB3x9": False, "anon_Zz9q1": True,
    }  # fmt: skip
    assert "text.html" in found["1008"].problem and found["1009"].problem
    assert found["1003"].name == "o_brienpat" and found["1004"].ids == {"canvas": "1004"}


def test_canvas(tmp_path: Path) -> None:
    put(
        tmp_path, "doejane_1001_55_exercise.py", "doejane_1001_56_notes.py", "roerick_LATE_1002_56_07-1.py",
        "roerick_LATE_1002_57_07-3.py", "zoe_1003_57_my_work.ipynb", "zip_1004_58_all.zip",
    )  # fmt: skip
    with zipfile.ZipFile(tmp_path / "zip_1004_58_all.zip", "w") as archive:
        archive.writestr("work/07.py", "pass\n")
    found = read(tmp_path)
    assert layouts.recognise(tmp_path) == "canvas"
    names_of = {k: h.path.name for k, h in found.items() if h.path}
    assert names_of == {
        "1001": "doejane_1001_55_exercise.py", "1002": "roerick_LATE_1002_57_07-3.py",
        "1003": "zoe_1003_57_my_work.ipynb", "1004": "07.py",
    }  # fmt: skip
    assert found["1002"].late and not found["1001"].late and found["1001"].name == "doejane"


def test_moodle(tmp_path: Path) -> None:
    put(
        tmp_path,
        "Jane Doe_111_assignsubmission_file_/07.py",
        "Rick Roe_112_assignsubmission_file_exercise.py",
        "Tim Text_113_assignsubmission_onlinetext_/onlinetext.html",
        "Group A-Ann van der Aa_114_assignsubmission_file/07.py",
        "Participant_115_assignsubmission_file/deep/down/07.py",
        "stray.py",
    )  # fmt: skip
    found = read(tmp_path)
    assert layouts.recognise(tmp_path) == "moodle"
    assert found["111"].name == "Jane Doe" and all(found[k].path for k in ("111", "112", "114", "115"))
    assert "onlinetext.html" in found["113"].problem and found["115"].ids == {"moodle": "115"}
    strays = [f for f in handed(tmp_path).fates if not f.student]
    assert [(f.file, f.look) for f in strays] == [("stray.py", True)]


def archives(folder: Path) -> None:
    """What is handed in as archives and otherwise, whatever the platform."""
    put(folder, "carl.py", "dora.cu", "eve.rar", "fay.zip", "gil.7z", "me.txt")
    for name in ("alice.zip", "hal.zip"):
        with zipfile.ZipFile(folder / name, "w") as archive:
            archive.writestr("03.py" if name == "alice.zip" else "notes.txt", "pass\n")
            archive.writestr("__MACOSX/._03.py", "junk")
    with zipfile.ZipFile(folder / "bob.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("03.py", b"0" * (unpack.MOST_BYTES + 1))
    with tarfile.open(folder / "ivy_03.tar.gz", "w:gz") as packed:
        packed.add(folder / "carl.py", "work/exercise.py")
        link = tarfile.TarInfo("work/07.py")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        packed.addfile(link)


@pytest.mark.parametrize("layout", ["files", "folders", "gradescope", "canvas", "moodle"])
def test_nothing_that_was_handed_in_is_without_a_fate(layout: str, tmp_path: Path) -> None:
    """Archives, CUDA files and whatever else: graded, or something to look at, in every layout."""
    loose, folder = tmp_path / "loose", tmp_path / "class"
    archives(loose)
    for number, path in enumerate(sorted(loose.iterdir())):
        who = path.name.split(".")[0]
        name = {
            "files": path.name, "folders": f"{who}/{path.name}",
            "gradescope": f"submission_{number}/{path.name}",
            "canvas": canvas_name(f"{who}, x", "", 100 + number, number, path.name),
            "moodle": f"{who} X_{number}_assignsubmission_file/{path.name}",
        }[layout]  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(path.read_bytes())
    found = read(folder, layout, "03_square_kernel")
    assert len(found) == 10 and sum(h.path is not None for h in found.values()) == 3
    assert all(h.problem and not h.missing for h in found.values() if h.path is None)
    said = " ".join(h.problem for h in found.values())
    assert all(
        word in said for word in ("larger than 8 MiB", ".rar archive", ".7z archive", "No .py or .ipynb")
    )
    fates = handed(folder, layout, "03_square_kernel").fates
    assert sum(f.what == "graded" for f in fates) == 3
    assert any("link" in f.what and "ivy" in f.file for f in fates)


def test_one_file_without_a_number_is_not_taken_for_several_lessons(tmp_path: Path) -> None:
    put(tmp_path, "ann/homework_final.py", "ben/03.py", "cleo/07.py", "cleo/03.py")
    three = "03_square_kernel"
    found = {(h.student, h.lesson): h for h in handed(tmp_path, "auto", SEVEN, three).files}
    assert "several are graded" in found["ann", SEVEN].problem and found["ann", three].path is None
    assert found["ben", SEVEN].missing and found["ben", three].path and found["cleo", SEVEN].path


def test_names_with_a_lesson_belong_to_one_student(tmp_path: Path) -> None:
    put(
        tmp_path,
        "alice_03.py",
        "alice-07.py",
        "bob lesson 7.ipynb",
        "carl_hw07.py",
        "student_07.py",
        "u12.py",
    )
    found = read(tmp_path)
    assert sorted(found) == ["alice", "bob", "carl", "student_07", "u12"]
    assert found["alice"].path and found["alice"].path.name == "alice-07.py" and not found["alice"].notes


def test_a_zip_with_a_folder_around_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        archive.writestr("class/ann/07.py", "pass\n")
        archive.writestr("class/ben/07.py", "pass\n")
        archive.writestr("../../outside.py", "pass\n")
        archive.writestr("class/huge/07.py", b"x" * (unpack.MOST_BYTES + 1))
    folder, nowhere = unpack.as_folder(tmp_path / "class.zip", tmp_path / "room")
    assert sorted(read(folder)) == ["ann", "ben", "huge"]
    assert not (tmp_path / "outside.py").exists() and list(nowhere) == ["../../outside.py"]


@pytest.mark.parametrize("layout", ["files", "folders", "gradescope", "canvas", "moodle"])
def test_what_a_class_archive_cannot_give_is_somebodys(
    layout: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bomb, a student's archive with pictures, a path that leads outside: none is "nothing handed in"."""
    monkeypatch.setattr(unpack, "MOST_BYTES_OF_ARCHIVE", unpack.MOST_BYTES + 1024)
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("03.py", "pass\n")
        archive.writestr("picture.png", b"x" * unpack.MOST_BYTES)
    given = {"ann.py": b"pass", "ben.zip": inner.getvalue(), "cem.py": b"0" * (unpack.MOST_BYTES + 2000)}
    with zipfile.ZipFile(tmp_path / "class.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number, (path, data) in enumerate(given.items()):
            who = path.split(".")[0]
            name = {
                "files": path, "folders": f"{who}/{path}", "gradescope": f"submission_{number}/{path}",
                "canvas": canvas_name(f"{who}, x", "", number, number, path),
                "moodle": f"{who} X_{number}_assignsubmission_file_{path}",
            }[layout]  # fmt: skip
            archive.writestr(name, data)
        archive.writestr("../dora.py", "pass\n")
    folder, nowhere = unpack.as_folder(tmp_path / "class.zip", tmp_path / "room")
    room = tmp_path / "students"
    found = layouts.read(folder, ["03_square_kernel"], KNOWN, room, layout, nowhere)
    ann, ben, cem = found.files
    assert ann.path and ben.path and ben.path.name == "03.py"
    assert not cem.missing and "Left out of the archive: larger than 8 MiB" in cem.problem
    assert [(f.file, f.student, f.look) for f in found.fates if "path" in f.what] == [
        ("../dora.py", "", True)
    ]
    (eve,) = roster.held([StudentFile("eve", "03_square_kernel", None, missing="Nothing.")], found.fates)
    assert "../dora.py" in eve.held


@pytest.mark.parametrize(
    "member, said",
    [
        ("work\\07.py", ""), ("EXERCISE.PY", ""), ("work/07.py", ""), ("C:/me/07.py", PATH_UNUSED),
        ("../07.py", PATH_UNUSED), ("x" * 230 + ".py", PATH_UNUSED),
        ("in.zip", "An archive in an archive"), ("", NO_SOURCE),
        ("._07.py", NO_SOURCE), ("__MACOSX/._07.py", NO_SOURCE),
    ],
)  # fmt: skip
def test_names_in_a_students_archive(member: str, said: str, tmp_path: Path) -> None:
    folder = put(tmp_path / "class", "ben.py")
    with zipfile.ZipFile(folder / "ann.zip", "w") as archive:
        if member:
            info = zipfile.ZipInfo("07.py")
            info.filename = member
            archive.writestr(info, "pass\n")
    found = handed(folder)
    ann = next(h for h in found.files if h.student == "ann")
    assert (ann.path is None) is bool(said) and bool(ann.problem) is bool(said) and not ann.missing
    assert not said or any(said in f.what and f.look for f in found.fates if f.student == "ann")


def test_hidden_files_alone_are_something_to_look_at(tmp_path: Path) -> None:
    put(
        tmp_path, "ann/.07.py", "ben/._07.py", "cem/__07__.py", "dan/.git/HEAD", "eve/07.py", "eve/.DS_Store",
        "eve/__pycache__/07.pyc", "Thumbs.db", "finn/Thumbs.db",
    )  # fmt: skip
    (tmp_path / "gus").mkdir()
    found = handed(tmp_path)
    by_name = {h.student: h for h in found.files}
    assert sorted(by_name) == ["ann", "ben", "cem", "dan", "eve", "finn", "gus"]
    for who, what in {"ann": ".07.py", "ben": "._07.py", "cem": "__07__.py", "dan": ".git"}.items():
        assert by_name[who].problem.endswith(f"only what is hidden: {what}.") and not by_name[who].missing
    assert by_name["eve"].path and not by_name["eve"].notes and by_name["gus"].missing
    looked_at = {f.file: f.look for f in found.fates}
    assert looked_at == {
        "ann/.07.py": True, "ben/._07.py": True, "cem/__07__.py": True, "dan/.git": True,
        "eve/07.py": False, "eve/.DS_Store": False, "eve/__pycache__": False, "finn/Thumbs.db": True,
        "Thumbs.db": False,
    }  # fmt: skip


@pytest.mark.parametrize("paths", [["exercise.py"], [f"{x}/exercise.py" for x in KNOWN], [f"{SEVEN}.py"]])
def test_a_class_of_one_is_no_folder_around_a_class(paths: list[str], tmp_path: Path) -> None:
    (one,) = handed(put(tmp_path, *(f"ann/{path}" for path in paths))).files
    assert one.student == "ann" and one.path in {tmp_path / "ann" / path for path in paths}


def test_what_is_no_zip_and_what_is_no_class(tmp_path: Path) -> None:
    (tmp_path / "bad.zip").write_bytes(b"PK\x03\x04 no")
    with pytest.raises(BadInputError, match="not an archive"):
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
    with pytest.raises(BadInputError, match="more than 8 files"):
        unpack.unpack(bomb, tmp_path / "into", files=8)


def test_dry_run_shows_whose_each_file_is_and_grades_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = put(tmp_path / "class", "ann_03.py", "ann_07.py", "ben_07.py", "eve.rar")
    monkeypatch.chdir(tmp_path)
    words = ["batch", str(folder), "--lesson", "03,07", "--dry-run", "--backend", "simt"]
    done = CliRunner().invoke(app, words, env={"COLUMNS": "150"})
    lines = [" ".join(line.split()) for line in done.output.splitlines()]
    assert {"ann 03 ann_03.py graded", "ann 07 ann_07.py graded", "ben 07 ben_07.py graded"} <= set(lines)
    assert "ben 03 - No file is for lesson 03." in lines
    assert any(line.startswith("eve eve.rar A .rar archive, which is not opened here") for line in lines)
    assert done.exit_code == 1 and "1 of 4 files to be looked at:" in lines
    assert sorted(p.name for p in tmp_path.iterdir()) == ["class"]


def test_two_of_one_name_are_two_rows(tmp_path: Path) -> None:
    put(tmp_path, "ann.py", "ann/07.py")
    found = read(tmp_path, "folders")
    assert sorted(found) == ["ann", "ann-2"] and "Duplicate" in found["ann-2"].notes[0]


def test_of_equally_old_files_none_is_called_the_newest(tmp_path: Path) -> None:
    put(
        tmp_path, "ann/07_fused_bias_relu.py", "ann/07_fused_bias_relu_old.py", "ben/07_a.py", "ben/07_b.py",
        "cem/07.py", "cem/07.ipynb",
    )  # fmt: skip
    for path in tmp_path.rglob("*.*"):
        os.utime(path, (1_000_000, 1_000_000))
    found = read(tmp_path)
    assert found["ann"].path == tmp_path / "ann/07_fused_bias_relu.py"
    (note,) = found["ann"].notes
    assert note.startswith("Duplicate: 07_fused_bias_relu.py has the lesson's name and was graded, not 07_")
    assert found["ben"].path is None
    assert found["ben"].problem == "2 files are for this lesson, and equally old: 07_a.py, 07_b.py."
    assert found["cem"].notes == ("Duplicate: 07.py is a .py file and was graded, not 07.ipynb.",)


def test_a_second_download_is_the_students_file_and_no_other_lessons(tmp_path: Path) -> None:
    put(tmp_path, "ann/lesson (1).ipynb", "ben/hw1.py", "cem/03.py", "cem/01.py")
    found = read(tmp_path)
    assert found["ann"].path == tmp_path / "ann/lesson (1).ipynb"
    assert found["ben"].path is None and "hw1.py was handed in" in found["ben"].problem
    assert found["cem"].missing == "No file is for lesson 07."


def test_a_link_in_the_platforms_archive_is_somebodys_and_is_looked_at(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as packed:
        packed.writestr("ann/07.py", "")
        link = zipfile.ZipInfo("ben/07.py")
        link.external_attr = 0o120777 << 16
        packed.writestr(link, "/etc/passwd")
    folder, _ = unpack.as_folder(tmp_path / "class.zip", tmp_path / "room")
    assert str((folder / "ben/07.py").readlink()) == "a link, which is not followed"
    found = read(folder)
    assert found["ann"].path is not None and not found["ann"].problem
    assert not found["ben"].missing and "only links" in found["ben"].problem


def test_an_earlier_version_on_canvas_is_its_students_and_holds_up_nobody(tmp_path: Path) -> None:
    put(tmp_path, "cem_12_34_07.py", "cem_12_35_07-1.py", "dora_13_36_07.py")
    found = handed(tmp_path, "canvas", SEVEN)
    cem = next(f for f in found.files if f.student == "12")
    assert cem.path == tmp_path / "cem_12_35_07-1.py"
    assert cem.notes == ("An earlier version of a file was left out.",)
    (fate,) = [f for f in found.fates if f.file == "cem_12_34_07.py"]
    assert (fate.student, fate.what, fate.look) == ("12", "not graded: an earlier version", False)


def test_a_file_beside_the_one_that_is_graded_is_named(tmp_path: Path) -> None:
    put(tmp_path, "ann/07.py", "ann/helper.py", "ben/07.py")
    found = read(tmp_path)
    assert found["ann"].notes == ("Also handed in, and not graded: helper.py.",)
    assert not found["ben"].notes


def test_dry_run_says_which_files_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = put(tmp_path / "class", "ann_07.py", "ben_07.py", "cem_07.py")
    (folder / "ben_07.py").write_bytes(b"")
    (folder / "cem_07.py").write_bytes("x = 1".encode("utf-16"))
    monkeypatch.chdir(tmp_path)
    words = ["batch", str(folder), "--lesson", "07", "--dry-run", "--backend", "simt"]
    done = CliRunner().invoke(app, words, env={"COLUMNS": "150"})
    lines = [" ".join(line.split()) for line in done.output.splitlines()]
    assert "ann 07 ann_07.py graded" in lines
    assert "ben 07 ben_07.py refused: ben_07.py is empty; was it saved?" in lines
    assert "cem 07 cem_07.py refused: cem_07.py is UTF-16 text; save it as UTF-8." in lines
    assert done.exit_code == 1


def test_dry_run_shows_names_and_points_above_the_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = put(tmp_path / "class", "s-1.py", "zoe.py")
    (tmp_path / "list.csv").write_text("id,name\ns-1,Jane Doe\ns-2,Rick Roe\n")
    (tmp_path / "results").mkdir()
    head = "student,lesson,points,author,reason\n"
    (tmp_path / "results" / "overrides.csv").write_text(f"{head}s-1,07,99,A,typed\ns-2,07,3,A,oral\n")
    monkeypatch.chdir(tmp_path)
    words = ["batch", str(folder), "--lesson", "07", "--dry-run", "--backend", "simt", "--roster", "list.csv"]
    done = CliRunner().invoke(app, words, env={"COLUMNS": "200"})
    lines = [" ".join(line.split()) for line in done.output.splitlines()]
    assert "s-1 Jane Doe 07 s-1.py graded" in lines and "zoe 07 zoe.py graded" in lines
    assert any(line.startswith("s-2 Rick Roe 07 - Nothing was handed in") for line in lines)
    assert any("line 2: s-1 is given 99 points, and lesson 07 has" in line for line in lines)
    assert not any("line 3" in line for line in lines)
