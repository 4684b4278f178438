"""A submission: one file, read as bytes and never imported on this side."""

from __future__ import annotations

import ast
import hashlib
from dataclasses import dataclass
from pathlib import Path

from grader.errors import BadInputError

MAX_BYTES = 2 << 20


@dataclass(frozen=True, slots=True)
class Submission:
    """The text of a submitted file as it was when grading began, and its content hash (SHA-256, hex).

    ``path`` is what a player imports; for a notebook that is a file made of its exercise cells, and ``given``
    the notebook itself.
    """

    path: Path
    source: str
    digest: str
    given: Path | None = None

    @property
    def name(self) -> str:
        """The path as short as it can be written from here."""
        try:
            return str((self.given or self.path).relative_to(Path.cwd()))
        except ValueError:
            return str(self.given or self.path)

    def syntax_error(self) -> SyntaxError | None:
        """The file's first syntax error, found without running it."""
        try:
            ast.parse(self.source)
        except SyntaxError as error:
            return error
        except (ValueError, RecursionError, MemoryError) as error:
            return SyntaxError(str(error) or type(error).__name__)
        return None


def read(path: Path) -> Submission:
    """Read a submission; :class:`~grader.errors.BadInputError` says in one sentence why it cannot be one."""
    try:
        if path.is_dir():
            raise BadInputError(f"{path} is a folder; name the .py file in it that should be graded.")
        if not path.exists():
            raise BadInputError(f"There is no file {path}; check the spelling, or leave the path out.")
        if not path.is_file():
            raise BadInputError(f"{path} is not an ordinary file, so it is not read.")
        if path.stat().st_size > MAX_BYTES:
            raise BadInputError(f"{path} is larger than 2 MiB; a submission is a file of source code.")
        data = path.read_bytes()
    except OSError as error:
        raise BadInputError(f"{path} cannot be read: {error.strerror}.") from error
    if not data.strip():
        raise BadInputError(f"{path} is empty; was it saved?")
    if b"\0" in data:
        raise BadInputError(f"{path} is a binary file, not Python source.")
    try:
        source = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInputError(
            f"{path} is not UTF-8 text (byte {error.start} is {data[error.start]:#04x}); save it as UTF-8."
        ) from error
    if path.suffix == ".ipynb":
        return _converted(path, data)
    return Submission(path.resolve(), source, hashlib.sha256(data).hexdigest())


def _converted(path: Path, data: bytes) -> Submission:
    """A notebook's exercise cells as a Python file of the cache, which is what a player imports."""
    from grader import notebook
    from grader.simt import cache

    source = notebook.source(data, path)
    digest = hashlib.sha256(source.encode()).hexdigest()
    file = cache.root() / "notebooks" / digest[:16] / f"{path.stem}.py"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source, "utf-8")
    return Submission(file.resolve(), source, digest, path.resolve())
