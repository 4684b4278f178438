"""Where everything lies that can be made again: builds, copies of files, headers."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

NAME = "inline-to-fused"


def cache_folder() -> Path:
    """``$COURSE_CACHE``, else the system's place: on Linux ``$XDG_CACHE_HOME`` or ``~/.cache``."""
    if given := os.environ.get("COURSE_CACHE"):
        return Path(given)
    try:
        from platformdirs import user_cache_path
    except ImportError:  # the doctor looks before anything is installed
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / NAME
    return user_cache_path(NAME)


def extensions(source: str) -> dict[str, str]:
    """The environment that makes torch build there. Two files may use one extension name in peace."""
    key = hashlib.sha256(source.encode()).hexdigest()[:16]
    folder = cache_folder() / "cuda" / key
    folder.mkdir(parents=True, exist_ok=True)
    return {"TORCH_EXTENSIONS_DIR": str(folder)}
