"""What runs on a platform's machine: one submission, one results file, whatever happens.

python -m grader.teaching.export.autograde gradescope 07_fused_bias_relu SUBMISSION_FOLDER results.json
python -m grader.teaching.export.autograde prepare
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.backends import detect
from grader.domain import disk, lessons, submission
from grader.domain.errors import BadInputError
from grader.domain.options import GradingOptions
from grader.referee.job import lesson_job
from grader.referee.pipeline import check
from grader.reports import formats
from grader.teaching.batch import batch_work
from grader.teaching.batch.student_files import choose_file

if TYPE_CHECKING:
    from grader.domain.lessons import Lesson
    from grader.domain.verdict import Verdict


def main(words: list[str]) -> int:
    """0 when a results file was written."""
    if words == ["prepare"]:
        from grader.referee import builder

        builder.prepare(print)
        return 0
    kind, name, folder, out = words
    lesson = lessons.find(name)
    verdict = grade(lesson, Path(folder))
    student = os.environ.get("OWNER") or os.environ.get("USERNAME") or "student"
    disk.write(Path(out).resolve(), formats.single(verdict, kind, student))
    print(f"{verdict.status}: {verdict.points} of {verdict.max_points} points")
    return 0


def grade(lesson: Lesson, folder: Path) -> Verdict:
    """The verdict on what is handed in; never an exception, since then there would be no results."""
    try:
        choice = detect.choose(os.environ.get("COURSE_BACKEND", "auto"))
        chosen = choose_file(folder, lesson.name, [lesson.name])
        if chosen.path is None:
            return batch_work.unreadable(lesson, "nothing", choice.name, chosen.problem)
        try:
            read = submission.read(chosen.path)
        except BadInputError as error:
            return batch_work.unreadable(lesson, chosen.path.name, choice.name, str(error))
        hidden = lessons.course_root() / "hidden.py"
        options = GradingOptions(hidden=hidden if hidden.exists() else None, with_prediction=True)
        return check(replace(lesson_job(lesson, read, choice, options), say=print)).verdict
    except Exception as error:
        return batch_work.ungraded(lesson, "simt", f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
