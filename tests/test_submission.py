"""What is not a submission is refused with one sentence."""

import os
from pathlib import Path

import pytest

from grader.domain.errors import BadInputError
from grader.domain.submission import read


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda p: None, "no file"),
        (lambda p: p.mkdir(), "a folder"),
        (lambda p: p.write_bytes(b""), "empty"),
        (lambda p: p.write_bytes(b" \n\t\n"), "empty"),
        (lambda p: p.write_bytes(b"\x7fELF\0\0\1"), "binary"),
        (lambda p: p.write_bytes("s = 'é'".encode("latin-1")), "UTF-8"),
        (lambda p: p.write_bytes(b"#" * (3 << 20)), "2 MiB"),
        (lambda p: os.mkfifo(p), "ordinary file"),
    ],
)
def test_bad_input_is_one_sentence(make, words: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    make(path)
    with pytest.raises(BadInputError) as error:
        read(path)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "name, shown", [(b"M\xfcller.py", r"M\xfcller.py"), (b"two\nlines.py", r"two\x0alines.py")]
)
def test_a_file_whose_name_is_no_text_is_played_from_a_copy(
    name: bytes, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "cache"))
    path = tmp_path / os.fsdecode(name)
    path.write_text("x = 1\n")
    found = read(path)
    assert found.name.endswith(shown) and found.given == path
    assert found.path.name == shown and found.path.read_text() == "x = 1\n"
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / os.fsdecode(b"\xfc")))
    with pytest.raises(BadInputError, match="COURSE_CACHE=/another/folder"):
        read(path)
    path.write_text("")
    with pytest.raises(BadInputError) as error:
        read(path)
    assert str(error.value).endswith(f"{shown} is empty; was it saved?")


def test_a_good_file_is_kept_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("\ufeffx = 1\n", encoding="utf-8")
    submission = read(path)
    assert submission.source == "x = 1\n"
    assert submission.syntax_error() is None
    path.write_text("def f(:\n")
    assert read(path).syntax_error() is not None
    path.write_text("(" * 5000)
    assert read(path).syntax_error() is not None
