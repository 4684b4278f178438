"""A submission: one file, read as bytes and never imported on this side."""

from __future__ import annotations

import hashlib
import stat
from dataclasses import dataclass
from pathlib import Path

from grader.domain import python_text
from grader.domain.cache import cache_folder
from grader.domain.disk import legible, write
from grader.domain.errors import BadInputError
from grader.domain.within import TooMuchError, within

MAX_BYTES = 2 << 20
READING_S = 10.0  # of a notebook, whose cells are parsed


@dataclass(frozen=True, slots=True)
class Submission:
    """The text of a submitted file as it was when grading began, and its content hash (SHA-256, hex).

    ``path`` is what a player imports. It is a file of the cache where ``given``, what was handed in, cannot
    be imported: a notebook, of which it holds the exercise cells, or a file whose path is not plain text.
    """

    path: Path
    source: str
    digest: str
    given: Path | None = None

    @property
    def name(self) -> str:
        """The path as short as it can be written from here."""
        path = self.given or self.path
        return legible(str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path))

    def syntax_error(self) -> SyntaxError | None:
        """The file's first syntax error, found without running it."""
        try:
            python_text.parse(self.source)
        except SyntaxError as error:
            return error
        except (ValueError, RecursionError, MemoryError) as error:
            return SyntaxError(str(error) or type(error).__name__)
        return None


def read(path: Path) -> Submission:
    """Read a submission; :class:`~grader.domain.errors.BadInputError` says in one sentence why it cannot be
    one."""
    source, digest = content(path)
    if path.suffix == ".ipynb":
        return _copied(source, digest, path)
    file = path.resolve()
    plain = legible(str(file)) == str(file)
    return Submission(file, source, digest) if plain else _copied(source, digest, path)


def content(path: Path) -> tuple[str, str]:
    """The text of a submission and its digest, for who plays it elsewhere; BadInputError as :func:`read`."""
    shown = legible(str(path))
    try:
        facts = path.stat()
        if stat.S_ISDIR(facts.st_mode):
            raise BadInputError(f"{shown} is a folder; name the .py file in it that should be graded.")
        if not stat.S_ISREG(facts.st_mode):
            raise BadInputError(f"{shown} is not an ordinary file, so it is not read.")
        if facts.st_size > MAX_BYTES:
            raise BadInputError(f"{shown} is larger than 2 MiB; a submission is a file of source code.")
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise BadInputError(
            f"There is no file {shown}; check the spelling, or leave the path out."
        ) from error
    except OSError as error:
        raise BadInputError(f"{shown} cannot be read: {error.strerror}.") from error
    if not data.strip():
        raise BadInputError(f"{shown} is empty; was it saved?")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadInputError(f"{shown} is UTF-16 text; save it as UTF-8.")
    if b"\0" in data:
        raise BadInputError(f"{shown} is a binary file, not Python source.")
    try:
        source = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInputError(
            f"{shown} is not UTF-8 text (byte {error.start} is {data[error.start]:#04x}); save it as UTF-8."
        ) from error
    if path.suffix != ".ipynb":
        return source, hashlib.sha256(data).hexdigest()
    from grader.domain import notebook

    try:
        text = within(READING_S, lambda: notebook.source(data, Path(shown)))
    except TooMuchError as error:
        raise BadInputError(f"{shown} is not read: {error}. Does a cell hold output or data?") from error
    source = _encodable(text, shown)
    return source, hashlib.sha256(source.encode()).hexdigest()


def _encodable(source: str, shown: str) -> str:
    """The same; JSON can hold halves of characters, a file cannot."""
    try:
        source.encode()
    except UnicodeEncodeError as error:
        character = source[error.start]
        raise BadInputError(f"{shown} has an invalid character ({character!a}); remove it.") from error
    return source


def _copied(source: str, digest: str, path: Path) -> Submission:
    """What a player imports instead of ``path``: a file of the cache with this text, by content and name."""
    folder = cache_folder().resolve() / "copies"
    if legible(str(folder)) != str(folder):
        raise BadInputError(
            f"{legible(str(path))} is graded from a copy, but {legible(str(folder))} is not a plain name "
            "either: export COURSE_CACHE=/another/folder"
        )
    file = folder / digest[:16] / f"{legible(path.stem)[-60:]}.py"
    return Submission(write(file, source), source, digest, path.resolve())
