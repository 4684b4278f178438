"""A page asks what its task asks, in the same order and with the same units."""

from pathlib import Path

import pytest

from grader.domain import lessons
from grader.domain.lessons import course_root
from tools import questions

ASKED = tuple(name for name in lessons.names() if name[:2] <= "08")
TASK = """
from grader.domain.task import Prediction, Task

TASK = Task(
    title="Waiting",
    entry="wait",
    predictions=(
        Prediction("seconds", "How long?", "s", 3, "Counted."),
        Prediction("which", "Which one?", "", 1, "The first."),
    ),
)
"""


def test_the_list_is_that_of_the_task(tmp_path: Path) -> None:
    (tmp_path / "task.py").write_text(TASK, "utf-8")
    page = "Predict:\n\n<!-- questions -->\nold\n<!-- /questions -->\n\nAfterwards.\n"
    made = questions.filled(page, tmp_path / "task.py")
    listed = "\n1. How long? [s]\n2. Which one?\n\n"
    assert made == f"Predict:\n\n<!-- questions -->\n{listed}<!-- /questions -->\n\nAfterwards.\n"
    assert questions.filled(made, tmp_path / "task.py") == made
    assert questions.filled("No question.", tmp_path / "none.py") == "No question."


@pytest.mark.parametrize("name", ASKED)
def test_the_first_lessons_ask_what_the_command_asks(name: str) -> None:
    page = (course_root() / "lessons" / name / "README.md").read_text("utf-8")
    part = page.split("\n## Predict\n")[1].split("\n## ")[0].split("<details>")[0]
    listed = questions.as_list(lessons.find(name[:2]).task)
    assert listed in part
    assert part.replace(listed, "").count("\n1. ") == 0, "a second list is not asked by the command"
