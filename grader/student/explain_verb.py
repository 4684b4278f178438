"""``course explain``: an error from the command line or from standard input, explained."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from grader.domain import lessons, submission
from grader.domain.errors import BadInputError
from grader.domain.installation import COURSE, from_wheel
from grader.feedback.explain.engine import Explanation, explain, first_error
from grader.feedback.explain.rules import RULES

if TYPE_CHECKING:
    from pathlib import Path

UNKNOWN = f"""\
This is not one of the {{count}} errors that the course knows, so there is no guess here.
{{error}}
Only the first error counts, later ones often follow from it. Read its line and the one above; then look
for its text, without your own names, in a search engine. Memory errors: {COURSE} run FILE."""


def run(error: str, source: Path | None) -> int:
    """Explain ``error``, or what standard input holds; 0 if a rule knows it, 1 if none does."""
    if not error.strip() or error.strip() == "-":
        error = _read()
    if not error.strip():
        raise BadInputError(
            f'There is no error to explain; give one, {COURSE} explain "error: ...", or pipe a log in.'
        )
    found = explain(error, submission.read(source).source if source else "")
    if found is None:
        print(UNKNOWN.format(count=len(RULES), error=f"It says: {first_error(error) or error.strip()[:300]}"))
        return 1
    for line in told(found):
        print(line)
    return 0


def told(found: Explanation) -> list[str]:
    """The explanation as lines: cause, where, what to do, which lesson, and the tool's own words."""
    lines = [found.cause]
    if found.where:
        lines.append(f"Where: {found.where}")
    lines.append(f"What to do: {found.fix}")
    lesson = next((name for name in lessons.names() if name.startswith(found.lesson)), "")
    if lesson:
        page = f"lessons/{lesson}/README.md"
        lines.append(f"Lesson {found.lesson} teaches it" + (f" ({lesson})." if from_wheel() else f": {page}"))
    return [*lines, f"({found.error})"]


def _read() -> str:
    if sys.stdin.isatty():
        print("Paste the error, then press Ctrl-D on a line of its own:", file=sys.stderr)
    return sys.stdin.buffer.read(4 << 20).decode(errors="replace")
