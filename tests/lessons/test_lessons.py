"""Every lesson folder has the same form: files, starter, hints, page, task."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.ladder_parts import files
from grader.domain import lessons
from tools import blanks, hint_check, lesson_check, page_words

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(p.name for p in (ROOT / "lessons").glob("[0-9][0-9]_*") if p.is_dir())

FILES = {"README.md", "exercise.py", "task.py", "hints.md", "quiz.toml", "mutants.toml", "lesson.ipynb"}
FILES |= {"glossary.toml", "mistakes.toml"}
EXTRA = {"tested_kernels.py", "data", "sibling.py"}

every_lesson = pytest.mark.parametrize("name", NAMES)


def folder(name):
    return ROOT / "lessons" / name


def read(name, file):
    return (folder(name) / file).read_text("utf-8")


def solution(name):
    return (ROOT / "solutions" / name / "solution.py").read_text("utf-8")


def test_there_are_lessons_and_each_has_a_solution():
    assert NAMES
    assert sorted(p.name for p in (ROOT / "solutions").glob("[0-9]*")) == NAMES


@every_lesson
def test_exactly_these_files(name):
    found = {p.name for p in folder(name).iterdir() if p.name != "__pycache__"}
    with_cases = {"reference.py"} if lessons.find(name).task.cases else set()
    assert found - EXTRA == FILES | with_cases
    in_solutions = {p.name for p in (ROOT / "solutions" / name).iterdir() if p.name != "__pycache__"}
    ladder = {f"{n}.py" for n in (*files.RUNGS.values(), "parts", "elementwise")}
    more = {"13": ladder, "15": {"rows.py"}, "16": {"mma_sync.py", "wgmma.py"}}.get(
        name[:2], set()
    )  # what goes beyond the lesson
    assert in_solutions - {"alternatives"} == {"solution.py"} | more


@every_lesson
def test_no_blank_is_left(name):
    assert not [str(blank) for blank in blanks.left(lessons.find(name))]


@every_lesson
def test_starter_is_short_parses_and_asks_for_something(name):
    text = read(name, "exercise.py")
    ast.parse(text)
    assert len(text.splitlines()) <= 60
    assert "TODO" in text
    assert not re.search(r"(#|//) (solution|starter|region|endregion)\b", text)


@every_lesson
def test_todos_are_numbered_in_order(name):
    assert (todos := re.findall(r"TODO (\d+):", read(name, "exercise.py")))
    assert [int(n) for n in todos] == list(range(1, len(todos) + 1))


@every_lesson
def test_solution_parses_and_leaves_nothing_to_do(name):
    text = solution(name)
    ast.parse(text)
    assert not [line for line in text.splitlines() if "TODO" in line and "starter:" not in line]


@every_lesson
def test_starter_solution_and_reference_define_the_entries(name):
    task = lessons.find(name).task
    entries = {task.entry, *(c.entry for c in task.cases if c.entry)}
    entries |= {part.entry for part in task.parts if hasattr(part, "entry")}

    def defined(text):
        tree = ast.parse(text).body
        named = {n.name for n in tree if isinstance(n, ast.FunctionDef | ast.ClassDef)}
        targets = [t for n in tree if isinstance(n, ast.Assign) for t in n.targets]
        listed = [e for t in targets for e in (t.elts if isinstance(t, ast.Tuple) else [t])]
        return named | {n.id for n in listed if isinstance(n, ast.Name)}

    assert entries <= defined(solution(name))
    assert entries <= defined(read(name, "exercise.py"))
    if not task.cases:
        return
    called = {c.entry or task.entry for c in task.cases}
    wanted = {task.reference_entry, "get_inputs", "get_init_inputs"} if task.kind == "model" else called
    assert wanted <= defined(read(name, "reference.py"))


@every_lesson
def test_hints_are_whole(name):
    assert not list(hint_check.problems(lessons.find(name)))


@every_lesson
def test_page_has_its_parts_and_a_readable_length(name):
    page = read(name, "README.md")
    assert lesson_check.WORDS[0] <= page_words.count(page) <= lesson_check.WORDS[1]
    assert page.startswith(f"# Lesson {name[:2]}: ")
    headings = set(re.findall(r"^## (.*)$", page, re.M))
    wanted = {"The idea", "Predict", "The exercise", "Common mistakes", "What this cost", "Where to read on"}
    assert wanted <= headings
    assert ".svg)" in page
    assert '??? note "Teacher\'s note"' in page
    assert f"./course check {name[:2]}" in page


@pytest.mark.thorough  # `course dev check`, a step of `course test`, runs every page, too
@every_lesson
def test_page_runs_and_prints_what_it_says_and_its_links_lead_somewhere(name):
    if lacking := lesson_check.missing(lessons.find(name)):
        pytest.skip(f"needs {lacking}")
    assert not list(lesson_check.page(lessons.find(name), ROOT))


@every_lesson
def test_task_gives_twenty_points_and_says_why(name):
    task = lessons.find(name).task
    assert task.max_points == 20
    assert all(case.points > 0 and case.why.endswith((".", "?")) for case in task.cases)
    assert len({case.name for case in task.cases}) == len(task.cases)
    assert task.minutes > 0


def test_each_lesson_requires_only_what_came_before():
    assert not list(lesson_check.concepts(lessons.every()))


def test_task_files_import_neither_torch_nor_numpy():
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from grader.domain import lessons; lessons.every(); "
    )
    code += "sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
