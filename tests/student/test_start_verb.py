from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest

from grader.domain import lessons, workspace
from grader.domain.errors import BadInputError
from grader.domain.installation import ABOVE
from grader.student import start_verb
from grader.student.run import exercises

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that was laid out, in which we are; no other is named."""
    monkeypatch.delenv("COURSE_WORK", raising=False)
    folder = tmp_path / "mine"
    start_verb.lay_out(folder)
    monkeypatch.chdir(folder)
    return folder


def test_every_lesson_has_its_starter_and_its_notebook(started: Path) -> None:
    for lesson in lessons.every():
        assert (started / f"{lesson.name}.py").read_bytes() == lesson.exercise.read_bytes()
        assert json.loads((started / f"{lesson.name}.ipynb").read_text("utf-8"))["cells"]


def test_the_folder_is_found_from_within(started: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = started / "notes" / "more"
    inner.mkdir(parents=True)
    for place in (started, inner):
        monkeypatch.chdir(place)
        assert workspace.folder() == started
        assert workspace.file(lessons.find("03")) == started / "03_square_kernel.py"
    monkeypatch.chdir(started.parent)
    assert workspace.here() != started


def test_a_changed_file_is_kept_and_an_old_starter_is_renewed(started: Path) -> None:
    (started / "01_hello_inline.py").write_text("mine")
    marker = started / workspace.MARKER
    old = "# an older starter\n"
    (started / "02_python_kernel.py").write_text(old)
    now = lessons.find("02").exercise.read_bytes()
    marker.write_text(marker.read_text().replace(digest(now), digest(old.encode())))
    laid = start_verb.lay_out(started)
    assert (laid.new, laid.updated, laid.kept) == (0, 1, ("01_hello_inline.py",))
    assert (started / "01_hello_inline.py").read_text() == "mine"
    assert (started / "02_python_kernel.py").read_bytes() == now
    (started / "02_python_kernel.py").unlink()
    assert start_verb.lay_out(started).new == 1


def test_a_file_of_that_name_that_was_there_before_is_kept(tmp_path: Path) -> None:
    (tmp_path / "01_hello_inline.py").write_text("written before there was a marker")
    for _ in range(2):
        assert start_verb.lay_out(tmp_path).kept == ("01_hello_inline.py",)
    assert (tmp_path / "01_hello_inline.py").read_text() == "written before there was a marker"


def test_import_exercise_takes_the_file_that_was_saved_and_not_one_that_was_laid_out(started: Path) -> None:
    file = started / "03_square_kernel.py"
    file.write_text("ANSWER = 3")
    found = exercises.Exercises().find_spec("exercise")
    assert found is not None and found.origin is not None and found.origin.endswith(file.name)


def test_what_comes_next_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert start_verb.run(tmp_path / "mine") == 0
    said = capsys.readouterr().out
    assert f"{len(lessons.names())} lessons" in said and "files are new" in said
    assert "cd " in said and "watch 01" in said
    start_verb.run(tmp_path / "mine")
    assert "all as before" in capsys.readouterr().out


def test_the_command_that_is_said_is_found_from_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(start_verb, "from_wheel", lambda: False)
    start_verb.run(tmp_path / "mine")
    (line,) = [one for one in capsys.readouterr().out.splitlines() if " doctor " in one]
    assert (tmp_path / "mine" / line.split()[0]).resolve() == ABOVE / "course"


def test_a_place_where_no_folder_can_be_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInputError, match="cannot be written"):
        start_verb.lay_out(tmp_path / "file" / "inner")


@pytest.mark.parametrize("there", ["file", "dangling"])
def test_what_is_no_folder_is_said(tmp_path: Path, there: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    with pytest.raises(BadInputError, match="is not a folder"):
        start_verb.lay_out(tmp_path / there)


def test_one_file_is_said_in_the_singular_and_a_name_can_be_pasted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "a b"
    place.mkdir()
    (place / "01_hello_inline.py").write_text("mine")
    start_verb.run(place)
    said = capsys.readouterr().out
    assert "1 is yours and stays as it is" in said and "  cd 'a b'\n" in said
    (place / "02_python_kernel.py").unlink()
    start_verb.run(place)
    assert "1 file is new" in capsys.readouterr().out


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
