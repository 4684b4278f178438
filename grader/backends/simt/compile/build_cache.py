"""Files named by what they were made from, made once even if several processes want them at once."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from grader.domain.cache import cache_folder

if TYPE_CHECKING:
    from collections.abc import Callable


def root(back_end: str = "simt") -> Path:
    """Where everything compiled for a back end lies."""
    return cache_folder() / back_end


def digest(*parts: object) -> str:
    """A name for content: equal for equal parts."""
    h = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        h.update(len(data).to_bytes(8, "little"))
        h.update(data)
    return h.hexdigest()[:20]


def once(path: Path, make: Callable[[Path], object]) -> Path:
    """``path``, after ``make(temporary)`` if it was not there; never half of it.

    One process makes it, others wait. The lock goes with its process, however that ends.
    """
    if path.exists():
        return path
    from filelock import FileLock

    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.parent / f".{path.name}.lock"):
        if path.exists():
            return path
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".making-") as folder:
            temporary = Path(folder) / path.name
            make(temporary)
            temporary.replace(path)
    return path
