"""Starters and page excerpts come from the solutions, and a wrong marker is reported at its line."""

from pathlib import Path

import pytest

from grader.domain.markers import MarkerError, regions, starter
from tools.generate import generate

ROOT = Path(__file__).resolve().parents[2]

SOLUTION = '''"""A lesson."""

source = """
// region: kernel
void kernel() {
    // starter: // TODO 1: write it.
    // starter:
    // solution: begin
    int i = 0;
    // solution: end
}
// endregion
"""

# region: use
# starter: result = None
# solution: begin
result = 1
# solution: end
# endregion
'''

STARTER = '''"""A lesson."""

source = """
void kernel() {
    // TODO 1: write it.

}
"""

result = None
'''


def course(folder: Path, solution: str = SOLUTION, page: str = "") -> Path:
    (folder / "solutions" / "01_x").mkdir(parents=True)
    (folder / "lessons" / "01_x").mkdir(parents=True)
    (folder / "solutions" / "01_x" / "solution.py").write_text(solution)
    (folder / "lessons" / "01_x" / "README.md").write_text(page)
    return folder


def test_what_is_generated_in_this_course_is_current():
    stale = generate(ROOT, check=True)
    assert not stale, f"not as generated, run the generator: {[str(p.relative_to(ROOT)) for p in stale]}"


def test_starter(tmp_path):
    root = course(tmp_path)
    assert starter(root / "solutions/01_x/solution.py") == STARTER


def test_check_writes_nothing_and_a_second_run_finds_nothing(tmp_path):
    root = course(tmp_path)
    exercise = root / "lessons/01_x/exercise.py"
    assert exercise in generate(root, check=True)
    assert not exercise.exists()
    assert exercise in generate(root, check=False)
    assert exercise.read_text() == STARTER
    assert generate(root, check=True) == []


def test_regions_lose_their_markers(tmp_path):
    found = regions(course(tmp_path) / "solutions/01_x/solution.py")
    assert found["kernel"] == "```cuda\nvoid kernel() {\n    int i = 0;\n}\n```"
    assert found["use"] == "```python\nresult = 1\n```"


def test_page_excerpts_are_replaced_and_the_rest_is_kept(tmp_path):
    page = "before\n\n<!-- code: solutions/01_x/solution.py#use -->\nold\n<!-- /code -->\n\nafter\n"
    root = course(tmp_path, page=page)
    generate(root, check=False)
    text = (root / "lessons/01_x/README.md").read_text()
    assert text == page.replace("old", "```python\nresult = 1\n```")


def test_a_page_may_show_a_starter_that_is_not_written_yet(tmp_path):
    root = course(tmp_path, page="<!-- code: lessons/01_x/exercise.py -->\n<!-- /code -->\n")
    generate(root, check=False)
    assert "TODO 1" in (root / "lessons/01_x/README.md").read_text()


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("a\n# solution: begin\n", 2, "without an end"),
        ("a\n# solution: end\n", 2, "without a begin"),
        ("# solution: begin\n# solution: begin\n# solution: end\n", 2, "inside the one of line 1"),
        ("# solution: begin\n# starter: x\n# solution: end\n", 2, "starter line inside"),
        ("# region: a\n", 1, "without an endregion"),
        ("x\n# endregion\n", 2, "without a region"),
        ("# region: a\n# region: b\n# endregion\n", 2, "inside region a"),
        ("# region: a\n# endregion\n# region: a\n# endregion\n", 3, "second region"),
        ("\n# solution: beginn\n", 2, "not a marker"),
    ],
)
def test_a_wrong_marker_is_named_with_its_line(tmp_path, source, line, words):
    root = course(tmp_path, solution=source)
    with pytest.raises(MarkerError, match=rf"solution\.py:{line}: .*{words}"):
        generate(root, check=True)


@pytest.mark.parametrize(
    ("page", "line", "words"),
    [
        ("<!-- code: solutions/01_x/solution.py#use -->\n", 1, "without <!-- /code -->"),
        ("\n<!-- /code -->\n", 2, "without an excerpt"),
        ("<!-- code: nowhere.py -->\n<!-- /code -->\n", 1, "no file"),
        (
            "<!-- code: solutions/01_x/solution.py#no -->\n<!-- /code -->\n",
            1,
            "no region no, only kernel, use",
        ),
    ],
)
def test_a_wrong_excerpt_is_named_with_its_line(tmp_path, page, line, words):
    root = course(tmp_path, page=page)
    with pytest.raises(MarkerError, match=rf"README\.md:{line}: .*{words}"):
        generate(root, check=True)
