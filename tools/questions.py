"""The numbered questions of a page's *Predict*: those of ``./course predict``, in order, with their units.

What stands between ``<!-- questions -->`` and ``<!-- /questions -->`` is written from the ``predictions`` of
the lesson's task, so that the page and the command cannot ask different things.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.domain import lessons

if TYPE_CHECKING:
    from pathlib import Path

    from grader.domain.task import Task

BLOCK = re.compile(r"(<!-- questions -->\n).*?(<!-- /questions -->)", re.S)


def filled(page: str, task_file: Path) -> str:
    """``page`` with its questions as ``task_file`` has them."""
    if not BLOCK.search(page):
        return page
    listed = as_list(lessons.load_task(task_file))
    return BLOCK.sub(lambda match: f"{match[1]}\n{listed}\n{match[2]}", page)


def as_list(task: Task) -> str:
    """A line of Markdown for each question."""
    return "".join(f"{k}. {asked.asked}\n" for k, asked in enumerate(task.predictions, 1))
