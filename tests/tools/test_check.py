"""`course dev check` sees each thing that can be wrong with a lesson: a copy of 02, broken in one place."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from grader.domain.lessons import Lesson, every, find
from tools import generate, lesson_check, mutants

ROOT = Path(__file__).resolve().parents[2]
REAL = find("02")  # plain Python: nothing to compile


@pytest.fixture
def lesson(tmp_path: Path) -> Lesson:
    """A copy of the lesson in a course of its own."""
    for top in ("lessons", "solutions"):
        shutil.copytree(ROOT / top / REAL.name, tmp_path / top / REAL.name)
    for page in (ROOT / "lessons").glob("*/README.md"):  # the page has links to some
        if page.parent.name != REAL.name:
            copy = tmp_path / page.relative_to(ROOT)
            copy.parent.mkdir()
            copy.write_text(
                "\n".join(x for x in page.read_text("utf-8").splitlines() if x.startswith("#")) + "\n"
            )
    return replace(REAL, folder=tmp_path / "lessons" / REAL.name)


@pytest.fixture
def pictured(lesson: Lesson, tmp_path: Path) -> Lesson:
    """With the pictures that its page shows."""
    figures = Path("docs/assets/figures")
    shutil.copytree(ROOT / figures, tmp_path / figures)
    return lesson


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def test_the_copy_is_whole(lesson: Lesson) -> None:
    assert not list(lesson_check.form(lesson)) and not list(lesson_check.concepts(every()))
    assert not generate.generate(lesson.folder.parents[1], check=True)


def test_a_page_without_a_picture_is_named(pictured: Lesson) -> None:
    page = pictured.folder / "README.md"
    page.write_text(page.read_text("utf-8").replace(".svg)", ".txt)"), "utf-8")
    assert "the page has no diagram." in lesson_check.page(pictured, pictured.folder.parents[1])


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("README.md", "## Common mistakes", "## Mistakes", "the page lacks Common mistakes."),
        ("README.md", "## Predict", "## Guess", "the page lacks Predict."),
        ("README.md", "Teacher's note", "Note", "the page has no teacher's note."),
        ("README.md", "](hints.md)", "](hint.md)", "link hint.md leads nowhere"),
        ("README.md", "](hints.md)", "](hints.md#nothing)", "link hints.md#nothing leads nowhere"),
        ("README.md", "The condition that", "In 31 us the condition that", "'31 us', which is neither"),
        ("README.md", "## The exercise", "## The exercise\n" + "word " * 900, "words, not 800 to 1800"),
        ("exercise.py", "\n\n\n", "\n" * 40, "the starter has more than 60 lines."),
        ("exercise.py", "TODO 1", "TODO 7", "not numbered"),
        ("quiz.toml", "right = 3", "right = 4", "no answer is right"),
        ("mutants.toml", 'find = "i = block * size + thread', 'find = "nowhere', "occurs 0 times"),
    ],
)
def test_a_broken_form_or_page_is_named(pictured: Lesson, file: str, old: str, new: str, says: str) -> None:
    change(pictured.folder / file, old, new)
    # What needs no program to run comes first, so that the first problem is found at once.
    found = list(lesson_check.form(pictured)) or [next(lesson_check.page(pictured, ROOT))]
    assert says in found[0]
    assert len(found) == 1 + ("TODO" in old)  # the hints miss that TODO, too


@pytest.mark.parametrize(
    "file",
    ["README.md", "hints.md", "exercise.py", "quiz.toml", "mutants.toml", "glossary.toml", "lesson.ipynb"],
)
def test_a_missing_file_is_named(lesson: Lesson, file: str) -> None:
    (lesson.folder / file).unlink()
    assert f"{file} is missing." in list(lesson_check.form(lesson))


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("solutions/{}/solution.py", "return (n + size - 1) // size", "return -(-n // size)"),  # on the page
        ("solutions/{}/solution.py", "# TODO 1: what", "# TODO 1: And what"),  # in starter and notebook
        ("lessons/{}/lesson.ipynb", '"nbformat": 4', '"nbformat": 4 '),
    ],
)
def test_generated_files_that_differ_are_named(lesson: Lesson, path: str, old: str, new: str) -> None:
    root = lesson.folder.parents[1]
    change(root / path.format(lesson.name), old, new)
    assert generate.generate(root, check=True)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("print(out)\n```", "print(out\n```", "does not parse"),
        ("print(out)\n```", "print(out[3])\n```", "fails:"),
        ("[10.0, 20.0, 30.0]\n```\n\nFor", "[10.0, 20.0, 31.0]\n```\n\nFor", "prints something else"),
        ("It prints `4 1024 24`", "It prints `4 1024 25`", "prints '4 1024 24', not"),
        ("./course check 02\n", "./course check 02\nls\n", "not tested: ls"),
    ],
)
def test_a_block_that_does_not_do_what_the_page_says_is_named(
    pictured: Lesson, old: str, new: str, says: str
) -> None:
    page = pictured.folder / "README.md"
    change(page, old, new)
    (found,) = lesson_check.page(pictured, ROOT)
    assert says in found


def test_starter_and_solutions_are_graded(lesson: Lesson) -> None:
    assert not lesson_check.starter(lesson)
    text = lesson.exercise.read_text()
    lesson.exercise.write_text(text.replace("TODO 1: what", "TODO 1 what"))
    assert "does not say what to do first" in lesson_check.starter(lesson)[0]
    lesson.exercise.write_text(text)
    wanted = replace(lesson, task=replace(lesson.task, starter_fails="ragged"))
    assert "fails first at ['scale'], not at ragged" in lesson_check.starter(wanted)[0]
    lesson.exercise.write_text("# TODO 1: nothing\n" + lesson.solution.read_text())
    assert "the starter fails first at []" in lesson_check.starter(lesson)[0]
    assert not lesson_check.correct(lesson, lesson_check.alternatives(lesson)[0])
    change(lesson.solution, "    if i < n:\n", "    if True:\n")
    assert "solution.py gets" in lesson_check.correct(lesson, lesson.solution)[0]


def test_too_few_alternatives_and_mutants_are_named(lesson: Lesson) -> None:
    lesson_check.alternatives(lesson)[0].unlink()
    jobs = lesson_check.gradings(lesson, ROOT, with_mutants=False)
    assert any(job() == ["there are 1 alternative solutions, not 2."] for job in list(jobs)[5:6])
    text = (lesson.folder / "mutants.toml").read_text()
    (lesson.folder / "mutants.toml").write_text("[[mutant]]".join(text.split("[[mutant]]")[: mutants.FEWEST]))
    left = len(mutants.declared(lesson))
    assert f"there are {left} mutants, not 12." in list(lesson_check.form(lesson))


def test_concepts_are_one_each_and_known_before(lesson: Lesson) -> None:
    def said(**changes: tuple[str, ...]) -> str:
        return " ".join(lesson_check.concepts([replace(lesson, task=replace(lesson.task, **changes))]))

    assert said(requires=("triton",)).endswith("requires triton, which no earlier lesson introduces.")
    assert said(introduces=()).endswith("introduces 0 concepts, not one.")
    assert said(introduces=("a", "b")).endswith("introduces 2 concepts, not one.")
    assert said(introduces=("python",)).endswith("introduces python a second time.")
