"""What is sent: the course, once, and the files of a job. The same content has the same name."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from grader.domain.errors import BadInputError
from grader.domain.installation import ABOVE, SHIPPED, from_wheel
from grader.domain.lessons import course_root

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

MOST_BYTES = 512 << 20  # unpacked
# Of the course what grading reads; its pages and pictures stay here.
FOLDERS, FILES = (
    ("lessons", "solutions"),
    ("benchmarks/results/pages.json", "pyproject.toml", "constraints.txt"),
)
UNREAD = (".pyc", ".so", ".ipynb")


@dataclass(frozen=True)
class Archive:
    """A tar in memory."""

    data: bytes

    @cached_property
    def digest(self) -> str:
        """Its name: the SHA-256 of what is packed."""
        return hashlib.sha256(self.data).hexdigest()

    def packed(self) -> bytes:
        """As it is sent."""
        return gzip.compress(self.data, 6, mtime=0)


def pack(files: Mapping[str, bytes]) -> Archive:
    """These files in an archive that depends on nothing but names and contents."""
    if sum(map(len, files.values())) > MOST_BYTES:
        raise BadInputError(f"More than {MOST_BYTES >> 20} MiB are not sent to another machine.")
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return Archive(out.getvalue())


def course() -> Archive:
    """The grader and its lessons, laid out as they are here: as in a checkout or as in a wheel."""
    below = f"{SHIPPED.name}/" if from_wheel() else ""
    files = {f"grader/{name}": data for name, data in _below(ABOVE / "grader")}
    root = course_root()
    for folder in FOLDERS:
        files |= {f"{below}{folder}/{name}": data for name, data in _below(root / folder)}
    for file in FILES:
        place = next((p / file for p in (root, SHIPPED, ABOVE) if (p / file).is_file()), None)
        files |= {f"{below}{file}": place.read_bytes()} if place else {}
    return pack(files)


def _below(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder)
        made = any(part == "__pycache__" or part.startswith(".") for part in inner.parts)
        if path.is_file() and not made and path.suffix not in UNREAD:
            yield inner.as_posix(), path.read_bytes()
