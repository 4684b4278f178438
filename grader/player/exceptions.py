"""Exceptions of a submission as plain data, trimmed to the lines that its author wrote."""

from __future__ import annotations

import linecache
import traceback
from typing import Any

MAX_TEXT = 6000


def describe(error: BaseException, path: str) -> dict[str, Any]:
    """``{"type", "message", "where"}``; where: the frames in the submission's own folder, outermost first."""
    folder = path.rsplit("/", 1)[0] + "/"
    where = [
        {"file": f.filename, "line": f.lineno or 0, "code": (f.line or "").strip()[:200]}
        for f in traceback.extract_tb(error.__traceback__)
        if f.filename == path or f.filename.startswith(folder)
    ]
    if isinstance(error, SyntaxError) and error.filename:
        code = linecache.getline(error.filename, error.lineno or 0).strip()[:200]
        where.append({"file": error.filename, "line": error.lineno or 0, "code": code})
    try:
        message = str(error)
    except Exception:  # a submission's exception class may itself be broken
        message = "(the exception has no readable message)"
    message = message.replace("perform.<locals>.", "")  # a function that the grader has handed over
    name = type(error).__name__
    if isinstance(error, SystemExit):
        message = f"the file called exit({message})"
    return {"type": name, "message": message[:MAX_TEXT], "where": where[-8:]}
