"""What ``course check`` prints, as a text file."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from grader.reports.formats import StudentFormat

if TYPE_CHECKING:
    from grader.reports.row import StudentResult


def text(result: StudentResult) -> str:
    """The report of a terminal that is 100 columns wide, without colours."""
    from rich.console import Console

    from grader.reports import console

    out = io.StringIO()
    console.show(Console(file=out, width=100, highlight=False), result.verdict, "batch", [])
    return out.getvalue() + "".join(f"{said}\n" for said in result.row.by_hand)


FORMATS = (StudentFormat(name="text", file="log.txt", help="What a check prints.", write=text, always=True),)
