"""What runs on a platform's machine: one submission, one results file, whatever happens.

python -m grader.teaching.export.autograde gradescope 07_fused_bias_relu SUBMISSION_FOLDER results.json
python -m grader.teaching.export.autograde prepare
"""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.backends import detect
from grader.domain import disk, lessons, submission
from grader.domain.errors import BadInputError
from grader.domain.options import GradingOptions
from grader.domain.verdict import Status
from grader.referee.job import lesson_job
from grader.referee.pipeline import check
from grader.reports import formats
from grader.reports.row import summary
from grader.teaching.batch import batch_work, file_fates
from grader.teaching.batch.student_files import HandIn, below

if TYPE_CHECKING:
    from grader.domain.lessons import Lesson
    from grader.domain.verdict import Verdict


def main(words: list[str]) -> int:
    """0 when a results file was written, 1 when the grader could not do its work and none was."""
    if words == ["prepare"]:
        from grader.referee import builder

        builder.prepare(print)
        return 0
    kind, name, folder, out = words
    lesson = lessons.find(name)
    verdict = grade(lesson, Path(folder))
    if any(f.status is Status.NOT_GRADABLE for f in verdict.findings):
        # Without a file of results a platform says that its grader failed, and gives nobody 0 points.
        Path(out).unlink(missing_ok=True)
        print(f"not gradable: {summary(verdict).first}", file=sys.stderr)
        return 1
    student = os.environ.get("OWNER") or os.environ.get("USERNAME") or "student"
    disk.write(Path(out).resolve(), formats.single(verdict, kind, student))
    print(f"{verdict.status}: {verdict.points} of {verdict.max_points} points")
    return 0


def grade(lesson: Lesson, folder: Path) -> Verdict:
    """The verdict on what is handed in; never an exception, since then nobody would know why."""
    try:
        choice = detect.choose(os.environ.get("COURSE_BACKEND", "auto"))
        with tempfile.TemporaryDirectory() as room:
            claimed = file_fates.claim(
                HandIn("student", tuple(below(folder))), [lesson.name], [lesson.name], folder, Path(room)
            )
            (one,) = claimed.entries
            if one.path is None:
                return batch_work.unreadable(lesson, "nothing", choice.name, one.problem or one.missing)
            try:
                read = submission.read(_kept(one.path, Path(room)))
            except BadInputError as error:
                return batch_work.unreadable(lesson, one.path.name, choice.name, str(error))
        hidden = lessons.course_root() / "hidden.py"
        options = GradingOptions(hidden=hidden if hidden.exists() else None, with_prediction=True)
        return check(replace(lesson_job(lesson, read, choice, options), say=print)).verdict
    except Exception as error:
        return batch_work.ungraded(lesson, "simt", f"{type(error).__name__}: {error}")


def _kept(path: Path, room: Path) -> Path:
    """The file, out of the room that is removed before it is graded."""
    if not path.is_relative_to(room):
        return path
    return batch_work.cached_file(path.read_bytes(), "unpacked", path.name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
