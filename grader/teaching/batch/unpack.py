"""Zip files from outside, unpacked without trust: no path leaves the folder, no size is believed."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
import zipfile
from pathlib import Path, PurePosixPath

from grader.domain.errors import BadInputError

MOST_FILES = 200_000
MOST_BYTES = 8 << 20  # of one file; a submission may have 2 MiB, and a student's own zip somewhat more
MOST_BYTES_IN_ALL = 4 << 30


def unpack(archive: Path, folder: Path, *, files: int = MOST_FILES, in_all: int = MOST_BYTES_IN_ALL) -> None:
    """Unpack into ``folder``, which is made. Members that are too large, links or paths outside are left out.

    BadInputError when it is not a zip file, or has more files or bytes than a class can hand in.
    """
    try:
        with zipfile.ZipFile(archive) as zipped:
            members = [m for m in zipped.infolist() if not m.is_dir()]
            if len(members) > files:
                raise BadInputError(f"{archive.name} has {len(members)} files; {files} are the most.")
            folder.mkdir(parents=True, exist_ok=True)
            left = in_all
            for member in members:
                if (out := _place(member, folder)) is not None:
                    left -= _copy(zipped, member, out, left)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError) as error:
        raise BadInputError(f"{archive.name} is not a zip file that can be read: {error}") from error


def _place(member: zipfile.ZipInfo, folder: Path) -> Path | None:
    parts = PurePosixPath(member.filename.replace("\\", "/")).parts
    is_link = (member.external_attr >> 16) & 0o170000 == 0o120000
    if is_link or not parts or parts[0] == "/" or ".." in parts or parts[0] == "__MACOSX":
        return None
    if any(len(p.encode()) > 200 or "\0" in p for p in parts) or re.match(r"[A-Za-z]:", parts[0]):
        return None
    return folder.joinpath(*parts)


def _copy(zipped: zipfile.ZipFile, member: zipfile.ZipInfo, out: Path, left: int) -> int:
    """Copy one member and answer its size; what is too large becomes a file of that size that holds nothing.

    Whoever reads it says that it is too large. It takes no room on the disk.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    with zipped.open(member) as source, out.open("wb") as target:
        while chunk := source.read(1 << 16):
            size += len(chunk)
            if size > MOST_BYTES:
                target.truncate(0)
                target.truncate(MOST_BYTES + 1)
                break
            if size > left:
                raise ValueError("it unpacks to more than a class can hand in")
            target.write(chunk)
    _date(member, out)
    return size


def _date(member: zipfile.ZipInfo, out: Path) -> None:
    with contextlib.suppress(ValueError, OverflowError, OSError):
        when = time.mktime((*member.date_time, 0, 0, -1))
        os.utime(out, (when, when))


def as_folder(given: Path, target: Path) -> Path:
    """``given`` itself if it is a folder; a zip file's contents, unpacked afresh below ``target``."""
    if given.is_dir():
        return given
    if not given.exists():
        raise BadInputError(f"There is no {given}; name a folder of submissions or a zip file of them.")
    folder = target / given.stem
    shutil.rmtree(folder, ignore_errors=True)
    unpack(given, folder)
    return folder


def unpack_nested(folder: Path) -> tuple[str, ...]:
    """Unpack the zip files that a student has handed in, each beside itself; notes about the others."""
    notes = []
    for archive in sorted(folder.rglob("*.zip")) if folder.is_dir() else []:
        into = archive.with_name(f"{archive.stem}.unpacked")
        if archive.is_symlink() or into.exists():
            continue
        try:
            unpack(archive, into, files=500, in_all=64 << 20)
        except BadInputError as error:
            notes.append(str(error))
    return tuple(notes)
