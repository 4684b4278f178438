"""The caller's disk: names that are not text, files that are written whole, errors that only they can fix."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
from pathlib import Path

from grader.domain.errors import BadInputError
from grader.domain.installation import COURSE
from grader.domain.visible import visible

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
PIECE = 1 << 20
FULL = (errno.ENOSPC, errno.EDQUOT)


def is_plain(text: str) -> bool:
    """Whether this is a line of ASCII, which is legible as it is."""
    return text.isascii() and text.isprintable()


def legible(name: str) -> str:
    r"""A file's name as text of one line: bytes that are not UTF-8 become ``\xfc``, a line's end ``\x0a``.

    Old archives leave such names. Python's own form of them has halves of surrogate pairs in it, which can
    neither be printed nor written nor sent. Different names stay different, as far as people use them.
    """
    if is_plain(name):
        return name
    try:
        text = os.fsencode(name).decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # a half that stands for no byte: from JSON, not from a disk
        text = name.encode("utf-8", "backslashreplace").decode("utf-8")
    return visible(CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text))


def write(path: Path, content: str | bytes, *, sync: bool = False) -> Path:
    """Have ``path`` hold this content, whole or not at all, whatever interrupts it and whoever else writes.

    Folders that lack are made. A file that holds the content already is left alone.

    Args:
        path: The file; what is not a regular file (``/dev/stdout``, a pipe) is written to as it is.
        content: Text is written as UTF-8.
        sync: The content is on the disk when this returns, whatever happens to the machine then.

    Returns:
        ``path``.

    Raises:
        BadInputError: One sentence, if the file or its folder cannot be written.
    """
    data = content.encode() if isinstance(content, str) else content
    part = path.with_name(f".{path.name}.{os.urandom(4).hex()}.part")
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
        elif sync or not path.exists() or not _holds(path, data):
            path.parent.mkdir(parents=True, exist_ok=True)
            with part.open("wb") as file:
                file.write(data)
                if sync:
                    file.flush()
                    os.fsync(file.fileno())  # else a power cut may leave the new name on an empty file
            part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise BadInputError(f"{legible(str(path))} cannot be written: {error.strerror}.") from error
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return path


def _holds(path: Path, data: bytes) -> bool:
    """Whether the file's content is this; a piece at a time, since a term's reports are large."""
    if path.stat().st_size != len(data):
        return False
    with path.open("rb") as file:
        return all(file.read(PIECE) == data[at : at + PIECE] for at in range(0, len(data), PIECE))


def trouble(error: Exception) -> str:
    """A sentence if a file or folder of the caller's cannot be made, read or written, else ""."""
    if not isinstance(error, OSError) or not error.strerror:
        return ""
    if not isinstance(error.filename, (str, bytes)):  # a write does not say to which file
        return f"The disk is full; free some space ({COURSE} doctor)." if error.errno in FULL else ""
    path = Path(os.fsdecode(error.filename))
    if error.errno == errno.ENOENT and path.is_relative_to(Path(__file__).parents[1]):
        return ""  # a file of the grader's own, which we have lost
    return f"{legible(str(path))} cannot be used: {error.strerror}."


def slug(text: str) -> str:
    """A file name made of a student's key, the same on every system; different keys stay different.

    None begins with a dot or a dash, which would hide it or make it an option of a command.
    """
    plain = re.sub(r"[^A-Za-z0-9.@+-]+", "_", text).strip("._-")[:60]
    if plain and plain == text:
        return plain
    return f"{plain or 'student'}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
