"""Names that are no text stay apart and can be shown; errors of a disk are the caller's, ours stay ours."""

from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import grader
from grader.domain import disk
from grader.domain.errors import BadInputError


def test_any_name_becomes_text_and_no_two_become_one() -> None:
    names = [b"M\xfcller", b"M\xf6ller", "Müller".encode(), b"ann", "日本".encode()]
    shown = [disk.legible(os.fsdecode(name)) for name in names]
    assert shown == [r"M\xfcller", r"M\xf6ller", "Müller", "ann", "日本"]
    assert disk.legible("from JSON: \ud800").encode() == rb"from JSON: \ud800"
    assert disk.legible("two\nlines\x1b[31m\u2028") == r"two\x0alines\x1b[31m\x2028"


def test_a_file_is_kept_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    for text in ("first", "second", "second"):
        assert disk.write(path, text).read_text() == text
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_holds_it_already_is_left_alone(tmp_path: Path) -> None:
    path = disk.write(tmp_path / "file", "text")
    before = path.stat()
    assert disk.write(path, b"text").stat() == before


def test_what_is_not_a_regular_file_is_written_to_and_stays_what_it_is(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    disk.write(pipe, "text")
    assert os.read(reader, 10) == b"text" and pipe.is_fifo()
    os.close(reader)


def test_two_that_write_the_same_do_not_meet(tmp_path: Path) -> None:
    texts = [str(number) * 100_000 for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda text: disk.write(tmp_path / "file", text), texts))
    assert (tmp_path / "file").read_text() in texts and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("fails_at", ["fsync", "replace"])
def test_an_interrupted_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_at: str
) -> None:
    file = disk.write(tmp_path / "progress.txt", "old\n")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os if fails_at == "fsync" else Path, fails_at, interrupted)
    with pytest.raises(KeyboardInterrupt):
        disk.write(file, "new\n" * 1000, sync=True)
    assert file.read_text() == "old\n" and list(tmp_path.iterdir()) == [file]


def test_a_file_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file" / "below", tmp_path):
        with pytest.raises(BadInputError, match="cannot be written: "):
            disk.write(path, "x")
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file" / "below", tmp_path / "no" / "folder", tmp_path):
        with pytest.raises(OSError) as error:
            path.write_text("")
        assert disk.trouble(error.value).startswith(f"{path} cannot be used: ")
    assert "full" in disk.trouble(OSError(errno.ENOSPC, "No space left on device"))


def test_what_is_ours_is_no_trouble_of_the_disk() -> None:
    lost = Path(grader.__file__).parent / "domain" / "cards" / "none.json"
    with pytest.raises(OSError) as error:
        lost.read_text()
    assert disk.trouble(error.value) == ""
    assert disk.trouble(ValueError("x")) == disk.trouble(OSError("x")) == ""
    assert disk.trouble(OSError(errno.EBADF, "Bad file descriptor")) == ""


def test_a_folder_of_a_students_name_is_no_option_and_not_hidden() -> None:
    keys = ["ann", "-rf", "--help", "rf", "..", "../x", "ann b", "ann_b", "\u00e4", "-", ""]
    made = [disk.slug(key) for key in keys]
    assert len(set(made)) == len(keys) and made[0] == "ann"
    assert all(name[0].isalnum() and "/" not in name for name in made)
