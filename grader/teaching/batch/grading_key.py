"""When two gradings are the same: equal task, source, back end, device, grader and whatever else decides."""

from __future__ import annotations

import functools
import hashlib
import json
from typing import TYPE_CHECKING

from grader.domain.version import __version__
from grader.referee.parts.questions import Quiz

if TYPE_CHECKING:
    from pathlib import Path

    from grader.domain.lessons import Lesson
    from grader.domain.options import GradingOptions

WORDS_ONLY = {"README.md", "hints.md", "lesson.ipynb", "mutants.toml", "exercise.py"}


@functools.cache
def task_version(folder: Path, hidden: str = "") -> str:
    """A digest of what decides about points in a lesson's folder, and of a teacher's hidden cases."""
    h = hashlib.sha256(hidden.encode())
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder)
        if path.is_file() and path.name not in WORDS_ONLY and "__pycache__" not in inner.parts:
            data = path.read_bytes()
            h.update(f"{inner}\0{len(data)}\0".encode())
            h.update(data)
    return h.hexdigest()[:16]


def made(
    lesson: Lesson, digest: str, device: str, options: GradingOptions, hidden: str = ""
) -> tuple[str, dict[str, str]]:
    """The key of a grading (hex), and what it is made of. ``hidden``: the text of hidden cases.

    ``options.student`` (given if the teacher decides who is asked what) is part of it only where a lesson
    asks each student something else; everywhere else equal files are graded once, and get one verdict.
    """
    parts = {
        "task": task_version(lesson.folder, hidden),
        "source": digest,
        "backend": options.backend,
        "device": device,
        "grader": __version__,
    }
    if options.student and any(isinstance(part, Quiz) for part in lesson.task.parts):
        parts["student"] = options.student
    if options.limit_s:
        parts["limit"] = f"{options.limit_s:g}"
    if options.schedules > 1:
        parts["schedules"] = str(options.schedules)
    text = json.dumps([lesson.name, parts], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24], parts
