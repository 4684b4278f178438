"""A helper of the tests of parts: grade a text as a submission to a task made of parts."""

from pathlib import Path

from grader.backends import detect
from grader.domain.options import GradingOptions
from grader.domain.submission import read
from grader.domain.task import Task
from grader.domain.verdict import Verdict
from grader.referee.job import Job
from grader.referee.parts import Part
from grader.referee.pipeline import check, warm


def grade(folder: Path, text: str, *parts: Part, entry: str = "mine", student: str = "") -> Verdict:
    """The verdict on ``text`` by the CPU back end."""
    file = folder / "mine.py"
    file.write_text(text)
    task = Task(title="a test", entry=entry, parts=parts)
    choice = detect.Choice("simt", "test")
    options = GradingOptions(student=student)
    job = Job("00_test", task, folder / "none.py", read(file), choice, options=options)
    return check(warm(job)).verdict
