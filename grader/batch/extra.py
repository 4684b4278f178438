"""What a batch needs beyond a single check, and the sentence for when it is not installed."""

from __future__ import annotations

import importlib.util
import shlex
import sys

from grader import lessons
from grader.errors import BadInputError

PACKAGES = ("distributed", "jinja2", "yaml", "junitparser")


def require() -> None:
    """BadInputError with the command that installs what is missing; imports nothing."""
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        root = lessons.course_root()
        command = [sys.executable, "-m", "pip", "install", "-c", str(root / "constraints.txt")]
        raise BadInputError(
            f"Grading a class needs {', '.join(missing)}, which this Python does not have; "
            f"get the extra with: {shlex.join([*command, '-e', f'{root}[batch]'])}"
        )
