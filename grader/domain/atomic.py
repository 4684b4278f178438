"""Files that are written whole or not at all, whatever interrupts the writing."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from grader.domain.errors import BadInputError


def write(path: Path, content: str | bytes, *, sync: bool = True, parents: bool = True) -> None:
    """Replace the file's content in one step; after an interruption the old content is there, complete.

    Args:
        path: The file; a link at its place is replaced.
        content: Text is written as UTF-8.
        sync: Have it on the disk before this returns; without, a power cut may leave the file empty.
        parents: Make the folders above it.

    Raises:
        BadInputError: The file cannot be written, or the disk is full.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        if parents:
            path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            if sync:
                file.flush()
                os.fsync(file.fileno())  # else a power cut may leave the new name on an empty file
        part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        raise BadInputError(f"{path} cannot be written: {error.strerror}.") from error
    except BaseException:
        part.unlink(missing_ok=True)
        raise
