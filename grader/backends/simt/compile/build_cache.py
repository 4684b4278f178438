"""Files named by what they were made from, made once even if several processes want them at once."""

from __future__ import annotations

import fcntl
import hashlib
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.domain.cache import cache_folder


def root() -> Path:
    """Where everything compiled for the CPU back end lies."""
    return cache_folder() / "simt"


def digest(*parts: object) -> str:
    """A name for content: equal for equal parts."""
    h = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        h.update(len(data).to_bytes(8, "little"))
        h.update(data)
    return h.hexdigest()[:20]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds the lock that belongs to ``path``; it goes with the process, however that ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with (path.parent / f".{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def once(path: Path, make: Callable[[Path], object]) -> Path:
    """``path``, after ``make(temporary)`` if it was not there; never half of it."""
    if path.exists():
        return path
    with locked(path):
        if path.exists():
            return path
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".making-") as folder:
            temporary = Path(folder) / path.name
            make(temporary)
            temporary.replace(path)
    return path
