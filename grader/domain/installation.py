"""How the grader came to this machine, as a checkout or from a wheel, and how its command is typed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ABOVE = Path(__file__).resolve().parents[2]  # the checkout, or where the package is installed
SHIPPED = ABOVE / "inline_to_fused"  # what setup.py puts beside the package; a checkout has no such folder
SCRIPTS = ("course", "grader")  # of a wheel; the same program


def from_wheel() -> bool:
    """Whether this package came from a wheel, the lessons beside it, and not with a checkout."""
    return SHIPPED.is_dir()


def python_path() -> str:
    """The PYTHONPATH of another Python process that imports this same package, wherever it starts."""
    checkout = "" if from_wheel() else str(ABOVE)
    return os.pathsep.join(filter(None, (checkout, os.environ.get("PYTHONPATH", ""))))


def document(name: str) -> str:
    """How a sentence names a page of the documentation: as a file, which a wheel does not have."""
    return f"{name} on the course's site" if from_wheel() else f"docs/{name}.md"


def _typed() -> str:
    if not from_wheel():
        return "./course"
    words = (os.environ.get("COURSE_COMMAND", ""), sys.argv[0] if sys.argv else "")
    return next((name for word in words if (name := Path(word).name) in SCRIPTS), SCRIPTS[0])


COURSE = _typed()  # as sentences name the command to type
