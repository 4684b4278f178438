"""What a page shows of its solution outside folds is counted, and a sibling is run."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.domain import folds, lesson_notebook
from grader.domain.lessons import Lesson, find
from tools import lesson_check, visible

if TYPE_CHECKING:
    from pathlib import Path

SOLUTION = '"""A lesson."""\nimport torch\n# a comment\ndef given(x):\n' + "".join(
    f"    first_line_{k} = {k}\n" for k in range(10)
)
BLOCK = "<!-- code: solutions/02_x/solution.py#a -->\n```python\n{}```\n<!-- /code -->\n"
FOLD = f"<details>\n<summary>{folds.COMPARE}</summary>\n\n{{}}\n</details>\n"
ANSWERS = "<details>\n<summary>Answers</summary>\n\nIt is seven.\n\n</details>\n"


@pytest.fixture
def lesson(tmp_path: Path) -> Lesson:
    """One whose solution has ten lines that tell something."""
    folder = tmp_path / "lessons" / "02_x"
    (tmp_path / "solutions" / "02_x").mkdir(parents=True)
    folder.mkdir(parents=True)
    (tmp_path / "solutions" / "02_x" / "solution.py").write_text(SOLUTION)
    (folder / "exercise.py").write_text("def given(x):\n")
    return replace(find("02"), name="02_x", folder=folder)


def write(lesson: Lesson, page: str) -> list[str]:
    (lesson.folder / "README.md").write_text(page)
    book = lesson_notebook.build(lesson.name, page, lesson.exercise.read_text())
    (lesson.folder / "lesson.ipynb").write_text(lesson_notebook.text(book))
    return list(visible.problems(lesson))


def lines(count: int) -> str:
    return "".join(f"first_line_{k} = {k}\n" for k in range(count))


def test_a_fifth_may_be_seen_and_no_more(lesson: Lesson) -> None:
    assert write(lesson, f"# A page\n\n```python\ndef given(x):\n{lines(2)}```\n") == []
    said = write(
        lesson,
        f"# A page\n\n- in a list:\n\n    ```python\n    {lines(3).replace(chr(10), chr(10) + '    ')}```\n",
    )
    assert said == [
        f"the {name} shows 30% of the solution outside folds; 20% is the most."
        for name in ("page", "notebook")
    ]


def test_what_is_folded_is_not_seen(lesson: Lesson) -> None:
    page = "# A page\n\n" + ANSWERS + FOLD.format(BLOCK.format(lines(10)))
    assert write(lesson, page) == []
    cells = json.loads((lesson.folder / "lesson.ipynb").read_text())["cells"]
    text = "".join("".join(cell["source"]) for cell in cells)
    assert "first_line" not in text and folds.COMPARE not in text and "It is seven." in text


def test_a_block_of_a_solution_stands_in_a_fold(lesson: Lesson) -> None:
    said = write(lesson, "# A page\n\n" + BLOCK.format(lines(1)) + FOLD.format(BLOCK.format(lines(9))))
    assert said == [
        "the page shows solutions/02_x/solution.py#a outside a fold 'Compare, after you have passed'; "
        "explain with a sibling.py."
    ]


def test_only_solutions_go_with_their_folds() -> None:
    page = "one\n\n" + ANSWERS + "two\n\n" + FOLD.format("x") + "three\n"
    assert folds.outside(page) == "one\n\ntwo\n\nthree\n"
    assert folds.without_solutions(page) == "one\n\n" + ANSWERS + "two\n\nthree\n"


@pytest.mark.thorough
@pytest.mark.slow
def test_a_sibling_must_find_its_result_right(lesson: Lesson) -> None:
    root = find("02").folder.parents[1]
    assert lesson_check.sibling(lesson, root) == []
    file = lesson.folder / "sibling.py"
    file.write_text("import torch\nassert torch.arange(3, device='cuda').sum() == 3\n")
    assert lesson_check.sibling(lesson, root) == []
    file.write_text("import torch\nassert torch.arange(3, device='cuda').sum() == 4, 'not three'\n")
    (said,) = lesson_check.sibling(lesson, root)
    assert said.startswith("sibling.py fails: ") and "not three" in said
