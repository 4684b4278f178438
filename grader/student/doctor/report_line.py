"""One line of the doctor's report."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "--", "no"]


@dataclass(frozen=True, slots=True)
class ReportLine:
    """What was looked at and what came of it.

    ``state``: "ok", "--" (missing, and the course runs without it), "no" (to be fixed). ``what`` is one
    clause, ``fix`` the exact thing to do, "" when there is nothing to do.
    """

    name: str
    state: State
    what: str
    fix: str = ""


def output_of(*command: str, seconds: float = 1.0) -> str:
    """What a program prints on standard output; "" if it cannot be run or takes longer than that."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=seconds, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout
