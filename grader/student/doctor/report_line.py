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


def output_of(*command: str) -> str:
    """What a program prints on standard output; "" if it cannot be run or takes longer than a second."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=1, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout
