"""The last cell of a lesson's exercise: the grader, asked from inside the notebook."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from grader.domain import lessons, notebook
from grader.domain.errors import BadInputError
from grader.domain.installation import python_path
from grader.domain.lesson_notebook import MARK, whole

COLOUR = re.compile(r"\x1b\[[\d;]*m")
LINE = re.compile(r"\bline (\d+)\b", re.I)


def check(number: str) -> None:
    """Grade the exercise's cells as they were last run, and print what ``course check`` says of them."""
    lesson = lessons.find(number)
    try:
        source = exercise()
    except BadInputError as error:
        raise SystemExit(f"{error} Run it, then this cell again.") from None
    root = str(lessons.course_root())
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{lesson.name}.py"
        file.write_text(source, "utf-8")
        env = os.environ | {"COURSE_ROOT": root, "PYTHONPATH": python_path()}
        command = [sys.executable, "-m", "grader", "check", lesson.number, str(file)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        told = done.stdout.replace(f"{folder}/", "") or done.stderr
    print(told.rstrip())
    for sentence in where(source, told):
        print(sentence)


def exercise() -> str:
    """What is handed in, from the cells that ran in this notebook."""
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    ran = [str(text) for text in shell.history_manager.input_hist_raw] if shell else []
    return whole([notebook.plain(text) for text in ran if MARK.search(text)])


def where(source: str, told: str) -> list[str]:
    """In which cell the lines are that a verdict names: the file that is graded has all cells in a row."""
    lines = source.splitlines()
    starts = [(k, found) for k, line in enumerate(lines, 1) if (found := MARK.fullmatch(line))]
    sentences = []
    for number in sorted({int(n) for n in LINE.findall(COLOUR.sub("", told))}):
        above = [(k, found) for k, found in starts if k <= number <= len(lines)]
        if above:
            start, found = above[-1]
            sentences.append(
                f"  Line {number} is line {number - start + 1} of the cell 'exercise, part {found[1]}'."
            )
    return sentences
