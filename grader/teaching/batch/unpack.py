"""Archives from outside, unpacked without trust: no path leaves the folder, no size is believed."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tarfile
import time
import zipfile
import zlib
from dataclasses import dataclass
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

from grader.domain.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST_FILES = 200_000
MOST_BYTES = 8 << 20  # of one file; a submission may have 2 MiB, and a student's own archive somewhat more
MOST_BYTES_OF_ARCHIVE = 64 << 20  # of all that a student's own archive holds
MOST_BYTES_IN_ALL = 4 << 30
LEFT_OUT = "Left out of the archive: "
A_LINK = "a link, which is not followed"
TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
READABLE = (".zip", *TARS)
OTHERS = (".rar", ".7z", ".gz", ".bz2", ".xz", ".zst", ".lz", ".z", ".jar", ".dmg", ".iso")
ENDINGS = (*READABLE, *OTHERS)
BROKEN = (
    zipfile.BadZipFile, tarfile.TarError, NotImplementedError, RuntimeError, EOFError, OSError, ValueError,
    LZMAError, zlib.error,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Member:
    """A regular file of an archive: its path in it, its Unix time, and how to open it."""

    name: str
    when: float | None
    opened: Callable[[], IO[bytes] | None]


def suffix(path: Path) -> str:
    """The ending that says what archive a file is, or ""."""
    name = path.name.lower()
    if not name.endswith(ENDINGS):  # asked of each file of a term
        return ""
    return next(end for end in ENDINGS if name.endswith(end))


def unpack(
    archive: Path, folder: Path, *, files: int = MOST_FILES, in_all: int = MOST_BYTES_IN_ALL
) -> tuple[str, ...]:
    """Unpack into ``folder``, which is made; the members that were left out, and why, a sentence each.

    What is left out is too large, a link, or has a path outside. BadInputError when it is no archive that
    can be read, or has more files or bytes than a class can hand in.
    """
    return _unpacked(archive, folder, files, MOST_BYTES, in_all)[0]


def _unpacked(
    archive: Path, folder: Path, files: int, each: int, in_all: int
) -> tuple[tuple[str, ...], dict[str, str]]:
    """What was left out, in sentences; and of the members that are somebody's their names, and why."""
    out: list[str] = []
    lost: dict[str, str] = {}
    try:
        with contextlib.ExitStack() as stack:
            left, count = in_all, 0
            folder.mkdir(parents=True, exist_ok=True)
            for member in _members(archive, stack, out, lost):
                count += 1
                if count > files:
                    raise BadInputError(f"{archive.name} has more than {files} files, the most there may be.")
                if (place := _place(member.name, folder)) is None:
                    if not member.name.startswith("__MACOSX"):
                        out.append(f"{member.name} in {archive.name} has a path that is not used.")
                        lost[member.name] = "its path is not used."
                    continue
                if (size := _copy(member, place, each, left)) > each:
                    large = f"larger than {each >> 20} MiB unpacked."
                    out.append(f"{member.name} in {archive.name} is {large}")
                    lost[member.name] = f"{LEFT_OUT}{large}"
                left -= size
    except BROKEN as error:
        raise BadInputError(f"{archive.name} is not an archive that can be read: {error}") from error
    return tuple(out), lost


def _members(
    archive: Path, stack: contextlib.ExitStack, out: list[str], lost: dict[str, str]
) -> Iterator[Member]:
    """Regular files, as they come; of links and devices ``out`` says so, and ``lost`` names them."""
    if suffix(archive) in TARS:
        packed = stack.enter_context(tarfile.open(archive))  # noqa: SIM115 - the stack closes it
        for entry in packed:
            if entry.isreg():
                yield Member(entry.name, float(entry.mtime), lambda e=entry: packed.extractfile(e))  # type: ignore[misc]
            elif not entry.isdir():
                out.append(f"{entry.name} in {archive.name} is a link or no ordinary file.")
                lost[entry.name] = A_LINK
        return
    zipped = stack.enter_context(zipfile.ZipFile(archive))
    for info in zipped.infolist():
        if (info.external_attr >> 16) & 0o170000 == 0o120000:
            out.append(f"{info.filename} in {archive.name} is a link.")
            lost[info.filename] = A_LINK
        elif not info.is_dir():
            yield Member(info.filename, _time(info), lambda i=info: zipped.open(i))  # type: ignore[misc]


def _place(name: str, folder: Path) -> Path | None:
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if not parts or parts[0] == "/" or ".." in parts or parts[0] == "__MACOSX":
        return None
    if any(len(p.encode(errors="replace")) > 200 or "\0" in p for p in parts):
        return None
    return None if re.match(r"[A-Za-z]:", parts[0]) else folder.joinpath(*parts)


def _copy(member: Member, out: Path, most: int, left: int) -> int:
    """Copy one member and answer its size; of what is too large nothing is kept."""
    out.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    source = member.opened()
    if source is None:
        raise ValueError(f"{member.name} cannot be opened")
    with source, out.open("wb") as target:
        while chunk := source.read(1 << 16):
            size += len(chunk)
            if size > most:
                break
            if size > left:
                raise ValueError("it unpacks to more than a class can hand in")
            target.write(chunk)
    if size > most:
        out.unlink()
    elif member.when is not None:
        with contextlib.suppress(OverflowError, OSError):
            os.utime(out, (member.when, member.when))
    return size


def _time(info: zipfile.ZipInfo) -> float | None:
    with contextlib.suppress(ValueError, OverflowError):
        return time.mktime((*info.date_time, 0, 0, -1))
    return None


def as_folder(given: Path, target: Path) -> tuple[Path, dict[str, str]]:
    """``given`` itself if it is a folder; an archive's contents, unpacked afresh below ``target``.

    And the members that can lie nowhere, with the reason. Where others were left out a link that leads
    nowhere stands for each, since it is somebody's: who has handed it in has to be looked at.
    """
    if given.is_dir():
        return given, {}
    if not given.exists():
        raise BadInputError(f"There is no {given}; name a folder of submissions or a zip file of them.")
    folder = target / given.stem
    shutil.rmtree(folder, ignore_errors=True)
    _, lost = _unpacked(given, folder, MOST_FILES, MOST_BYTES_OF_ARCHIVE, MOST_BYTES_IN_ALL)
    nowhere: dict[str, str] = {}
    for name, why in lost.items():
        if (place := _place(name, folder)) is None:
            nowhere[name] = why
        elif not os.path.lexists(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(why)
    return folder, nowhere


def left_out(path: Path) -> str:
    """What a link says that stands for a member of a class's archive, or "" if it is another."""
    found = str(path.readlink())
    return found if found.startswith(LEFT_OUT) else ""
