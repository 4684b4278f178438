"""What a platform's machine needs to grade one lesson: the grader and the lesson, no solution."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from grader.domain import lessons
from grader.domain.installation import ABOVE, SHIPPED, from_wheel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.lessons import Lesson

STAMP = (2026, 1, 1, 0, 0, 0)  # the same content makes the same zip
TEMPLATES = Path(__file__).parent / "templates"
PAPERS = Path("grader/teaching/exam/papers")  # exams' solutions, but for what is drawn


def course(lesson: Lesson, hidden: Path | None) -> Iterator[tuple[str, bytes]]:
    """(path inside, content) of every file of the course's own; ``hidden`` cases as ``hidden.py``.

    Of the lesson what grades: its pages, hints and lists of mutants say what a solution looks like.
    """
    root = lessons.course_root()
    for path in sorted((ABOVE / "grader").rglob("*")):
        inner = path.relative_to(ABOVE)
        if PAPERS in inner.parents or "__pycache__" in inner.parts:
            continue
        if path.is_file() and path.suffix != ".so":
            yield str(inner), path.read_bytes()
    for path in sorted(lesson.folder.rglob("*")):
        told = path.parent == lesson.folder and (path.suffix != ".py" or path.name == "sibling.py")
        if path.is_file() and not told and "__pycache__" not in path.parts:
            yield str(path.relative_to(root)), path.read_bytes()
    for name in ("pyproject.toml", "constraints.txt", "README.md", "LICENSE"):
        yield name, ((SHIPPED if from_wheel() else ABOVE) / name).read_bytes()  # a variant's root has none
    if hidden is not None:
        yield "hidden.py", hidden.read_bytes()


def template(name: str, lesson: Lesson) -> bytes:
    """A script of ``templates/`` for this lesson."""
    return (TEMPLATES / name).read_text("utf-8").replace("@LESSON@", lesson.name).encode()


def pack(out: Path, files: Iterator[tuple[str, bytes]]) -> int:
    """Write a zip, scripts executable; how many files are in it."""
    count = 0
    out.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            entry = zipfile.ZipInfo(name, STAMP)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if data.startswith(b"#!") else 0o100644) << 16
            archive.writestr(entry, data)
            count += 1
    return count


def gradescope(lesson: Lesson, hidden: Path | None) -> Iterator[tuple[str, bytes]]:
    """The zip's root as Gradescope wants it: ``setup.sh`` and ``run_autograder``, the course beside them."""
    yield "setup.sh", template("gradescope_setup.sh", lesson)
    yield "run_autograder", template("gradescope_run.sh", lesson)
    for name, data in course(lesson, hidden):
        yield f"course/{name}", data


def classroom50(lesson: Lesson, hidden: Path | None) -> Iterator[tuple[str, bytes]]:
    """For the classroom's folder: ``autograders/NAME/autograder.py``, the course beside it."""
    yield f"autograders/{lesson.name}/autograder.py", template("classroom50_autograder.py", lesson)
    for name, data in course(lesson, hidden):
        yield f"autograders/{lesson.name}/course/{name}", data
