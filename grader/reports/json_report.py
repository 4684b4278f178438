"""A verdict as JSON, written whole or not at all."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from grader.domain.errors import BadInputError
from grader.domain.verdict import Verdict


def write(verdict: Verdict, out: str) -> None:
    """Write to the file ``out``, or to standard output for "-". A full disk leaves the old file in place."""
    text = json.dumps(verdict.as_json(), indent=2, allow_nan=False) + "\n"
    if out == "-":
        sys.stdout.write(text)
        return
    path = Path(out)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise BadInputError(f"The report cannot be written to {out}: {error.strerror}.") from error
