"""A student's notebook becomes Python source, or one sentence says what is wrong with its cells."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from grader.domain import lesson_notebook, notebook
from grader.domain.errors import BadInputError
from grader.domain.lessons import course_root, every
from grader.domain.submission import read

TEXT = '"""A lesson."""\n\nimport torch\n\n\n# Twice.\ndef twice(x):\n    return 2 * x\n\n\nLIMIT = 3\n'


def book() -> dict:
    return json.loads(
        lesson_notebook.text(lesson_notebook.build("00_test", "# Lesson\n\n## The idea\n\nText.\n", TEXT))
    )


def exercise_cells(made: dict) -> list[dict]:
    return [c for c in made["cells"] if "exercise" in c["metadata"].get("tags", [])]


def said(made: object, path: Path = Path("mine.ipynb")) -> str:
    with pytest.raises(BadInputError) as error:
        notebook.source(json.dumps(made).encode(), path)
    return str(error.value)


def test_a_notebook_gives_its_exercise_back() -> None:
    made = book()
    assert len(exercise_cells(made)) == 3 and made["cells"][0]["cell_type"] == "markdown"
    assert len({c["id"] for c in made["cells"]}) == len(made["cells"])
    assert ast.dump(ast.parse(notebook.source(json.dumps(made).encode(), Path("x")))) == ast.dump(
        ast.parse(TEXT)
    )


@pytest.mark.parametrize("lesson", every(), ids=lambda x: x.name)
def test_every_lessons_notebook_is_its_exercise(lesson) -> None:
    path = lesson.folder / "lesson.ipynb"
    got = notebook.source(path.read_bytes(), path)
    assert ast.dump(ast.parse(got)) == ast.dump(ast.parse(lesson.exercise.read_text("utf-8")))
    cells = json.loads(path.read_text("utf-8"))["cells"]
    assert all(not c["outputs"] and c["execution_count"] is None for c in cells if c["cell_type"] == "code")


def test_half_a_character_is_a_sentence(tmp_path: Path) -> None:
    made = book()
    exercise_cells(made)[1]["source"] = "x = '\ud800'"
    (tmp_path / "mine.ipynb").write_text(json.dumps(made))
    with pytest.raises(BadInputError, match=r"mine.ipynb has an invalid character \('.ud800'\)"):
        read(tmp_path / "mine.ipynb")


def test_magics_other_cells_and_outputs_are_left_out() -> None:
    made = book()
    exercise_cells(made)[1]["source"] = ["%load_ext x\n", "!ls\n", *exercise_cells(made)[1]["source"]]
    made["cells"].append(
        {
            "cell_type": "code",
            "metadata": {},
            "source": "raise SystemExit",
            "outputs": [{"output_type": "odd"}],
        }
    )
    source = notebook.source(json.dumps(made).encode(), Path("x"))
    assert (
        "def twice" in source and "%load" not in source and "!ls" not in source and "SystemExit" not in source
    )


def test_deleted_copied_moved_and_stripped_cells_are_named() -> None:
    made = book()
    made["cells"].remove(exercise_cells(made)[1])
    assert "part 2 of the 3 parts of the exercise is missing" in said(made)
    made = book()
    made["cells"].append(exercise_cells(made)[0])
    assert "are both part 1 of the exercise; was one split or copied?" in said(made)
    made = book()
    made["cells"].append(made["cells"].pop(made["cells"].index(exercise_cells(made)[0])))
    assert "is part 1 of the exercise, but comes after part 3; move it back" in said(made)
    made = book()
    del exercise_cells(made)[0]["metadata"]["course"]
    assert "has lost its number" in said(made)
    made = book()
    for cell in exercise_cells(made):
        cell["metadata"] = {}
    assert "no cell tagged 'exercise'" in said(made)


def test_a_cell_split_off_without_its_tag_is_named() -> None:
    def split(at: int) -> dict:
        made = book()
        cell = exercise_cells(made)[1]
        lines = "".join(cell["source"]).splitlines(keepends=True)
        rest = {"cell_type": "code", "metadata": {}, "source": lines[at:], "outputs": []}
        made["cells"].insert(made["cells"].index(cell) + 1, rest)
        cell["source"] = lines[:at]
        return made

    assert "begins in the middle of a block; was it split off the cell above?" in said(split(3))
    made = book()
    made["cells"].append({"cell_type": "code", "metadata": {}, "source": "FACTOR = 2\n", "outputs": []})
    assert "twice" in notebook.source(json.dumps(made).encode(), Path("x"))  # of no use to the exercise
    exercise_cells(made)[1]["source"] = ["def twice(x):\n", "    return FACTOR * x\n"]
    assert "defines FACTOR, which the exercise uses, but is not tagged" in said(made)


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%%time\nx = 1", "x = 1"),
        ("%%bash\nls -l", ""),
        ("%load_ext x\nx = 1", "pass\nx = 1"),
        ("if True:\n    !ls\n    x = 1", "if True:\n    pass\n    x = 1"),
        ("files = !ls\nx = %time 3", "files = None\nx = 3"),
        ("%timeit -n 3 f(2)", "f(2)"),
        ("?print\nprint?\nx = 1", "pass\npass\nx = 1"),
        ('s = """\n% cols;\n!done\n"""', 's = """\n% cols;\n!done\n"""'),  # C++ in a string stays
        ("x = = 1", "x = = 1"),
    ],
)
def test_magics_leave_python_behind(cell: str, python: str) -> None:
    assert notebook.plain(cell) == python


@pytest.mark.parametrize(
    "odd",
    [
        [],
        {},
        {"cells": {}},
        {"cells": [], "nbformat": 3},
        {"cells": [1], "nbformat": 4},
        {"cells": [{"source": [1]}], "nbformat": 4, "nbformat_minor": 5},
        {"nbformat": 99, "cells": []},
    ],
)
def test_what_is_no_notebook_is_one_sentence(odd: object) -> None:
    assert "\n" not in said(odd)


def test_check_takes_a_notebook_and_refuses_a_broken_one_with_exit_code_2(tmp_path: Path) -> None:
    file = tmp_path / "mine.ipynb"
    file.write_text(json.dumps(book()))
    submission = read(file)
    assert submission.path.suffix == ".py" and submission.path.read_text("utf-8") == submission.source
    assert submission.name.endswith("mine.ipynb")
    file.write_text('{"cells": []}')
    command = [sys.executable, "-m", "grader", "check", "02", str(file)]
    done = subprocess.run(command, cwd=course_root(), capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "not a notebook" in done.stderr and "Traceback" not in done.stderr
