"""Names that are no text stay apart and can be shown; errors of a disk are the caller's, ours stay ours."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

import grader
from grader.domain import disk


def test_any_name_becomes_text_and_no_two_become_one() -> None:
    names = [b"M\xfcller", b"M\xf6ller", "Müller".encode(), b"ann", "日本".encode()]
    shown = [disk.legible(os.fsdecode(name)) for name in names]
    assert shown == [r"M\xfcller", r"M\xf6ller", "Müller", "ann", "日本"]
    assert disk.legible("from JSON: \ud800").encode() == rb"from JSON: \ud800"
    assert disk.legible("two\nlines\x1b[31m\u2028") == r"two\x0alines\x1b[31m\x2028"


def test_a_file_is_kept_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    for text in ("first", "second", "second"):
        assert disk.keep(text, path).read_text() == text
    assert list(path.parent.iterdir()) == [path]


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
