"""``course dev check``: is every lesson whole? Starters, solutions, alternatives, mutants, pages, hints."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from grader.backends import detect
from grader.domain import exercise_stage, lessons, result_value
from grader.domain.errors import BadInputError
from grader.domain.speed import Measured, Predicted
from grader.domain.submission import read
from grader.domain.verdict import PENDING, Status, Verdict
from grader.feedback.look import look
from grader.referee.job import Job
from grader.referee.pipeline import check as grade
from grader.referee.pipeline import warm
from tools import (
    blanks,
    blocks,
    first_use,
    glossary,
    hint_check,
    mistakes,
    mutants,
    numbers,
    page_words,
    quiz,
    turns,
    visible,
)
from tools.generate import generate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.domain.lessons import Lesson
    from grader.domain.task import Task

BASE_SKILLS = {"python", "tensors", "c++ functions"}  # what a student brings along
ALTERNATIVES = 2
HEADINGS = {"The idea", "Predict", "The exercise", "Common mistakes", "What this cost", "Where to read on"}
WORDS = (800, 1800)
AT_ONCE = 2
SECONDS = 400  # as for the blocks of a page
OF_EACH = (
    "README.md",
    "hints.md",
    "quiz.toml",
    "mutants.toml",
    "mistakes.toml",
    "glossary.toml",
    "lesson.ipynb",
)
NO_PROGRAM = {Status.COMPILE_ERROR, Status.NOT_GRADABLE, Status.IMPORT_ERROR}


def problems(
    root: Path, chosen_numbers: list[str], say: Callable[[str], None], *, with_mutants: bool = True
) -> list[str]:
    """What is not as it should be, a sentence each, for the lessons named (all if none are).

    What a lesson that has been begun still lacks, and names as a blank, is no problem; it is said. Takes a
    few seconds for each file that is graded.
    """
    every = lessons.every()
    chosen = [lessons.find(n) for n in chosen_numbers] or every
    found = [f"{path} is out of date: course dev generate" for path in generate(root, check=True)]
    found += concepts(every)
    found += glossary.read(root).problems({x.name: x.task for x in every})
    of_chosen = tuple(f"lessons/{lesson.name}/" for lesson in chosen) if chosen_numbers else ("",)
    found += [str(use) for use in first_use.open_uses(root) if use.page.startswith(of_chosen)]
    found += turns.problems(root, of_chosen)
    found += [] if chosen_numbers else page_words.problems(root)
    for lesson in chosen:
        found += [f"{lesson.name}: {p}" for p in form(lesson)]
        if lacking := missing(lesson):
            say(f"{lesson.name}: {lacking} is not installed, so nothing of it was graded or run")
    chosen = [lesson for lesson in chosen if not missing(lesson)]
    work = [(lesson, w) for lesson in chosen for w in gradings(lesson, root, with_mutants=with_mutants)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for (lesson, _), seen in zip(work, pool.map(lambda w: w[1](), work), strict=True):
            found += [f"{lesson.name}: {p}" for p in seen]
            say(f"{lesson.name}: {'; '.join(seen) or 'as it should be'}")
    for lesson in chosen:
        if left := blanks.left(lesson):
            say(f"{lesson.name}: {len(left)} blanks to fill in:")
            for blank in left:
                say(f"  {blank}")
    return found


def missing(lesson: Lesson) -> str:
    """The packages that the lesson needs and this Python lacks."""
    return ", ".join(p for p in lesson.task.packages if importlib.util.find_spec(p) is None)


def concepts(every: list[Lesson]) -> Iterator[str]:
    """Each lesson introduces one concept; concepts and terms are new once, and required only later."""
    known = set(BASE_SKILLS)
    for lesson in every:
        task = lesson.task
        if missing := set(task.requires) - known:
            yield f"{lesson.name} requires {', '.join(sorted(missing))}, which no earlier lesson introduces."
        if again := {*task.introduces, *task.terms} & known:
            yield f"{lesson.name} introduces {', '.join(sorted(again))} a second time."
        if len(task.introduces) != 1:
            yield f"{lesson.name} introduces {len(task.introduces)} concepts, not one."
        known |= {*task.introduces, *task.terms}


def form(lesson: Lesson) -> Iterator[str]:
    """The files of a lesson, its hints, its mutants, and the length and order of its starter."""
    needed = [lesson.exercise, lesson.solution]
    needed += [lesson.folder / name for name in OF_EACH]
    needed += [lesson.reference] if lesson.task.cases else []
    if missing := [path for path in needed if not path.is_file()]:
        yield from (f"{path.name} is missing." for path in missing)
        return
    text = lesson.exercise.read_text("utf-8")
    if len(text.splitlines()) > 60:
        yield "the starter has more than 60 lines."
    todos = [int(n) for n in re.findall(r"TODO (\d+)", text)]
    if not todos or todos != list(range(1, len(todos) + 1)):
        yield f"the starter's TODOs are not numbered 1, 2, ..., but {todos}."
    yield from hint_check.problems(lesson)
    yield from _names(lesson.task)
    yield from exercise_stage.problems(lesson.task.stages, lesson.task.check_names, lesson.task.minutes)
    yield from quiz.problems(quiz.read(lesson.folder / "quiz.toml"))
    few = 0 if blanks.names(blanks.left(lesson), "mutants") else mutants.FEWEST
    yield from mutants.problems(lesson, few)
    yield from mistakes.problems(
        lesson, 0 if blanks.names(blanks.left(lesson), "mistakes") else mistakes.FEWEST
    )


def _names(task: Task) -> Iterator[str]:
    """Names of checks and predictions that could not be listed, or be told apart."""
    for name in task.check_names:
        if ";" in name:
            yield f"the check {name!r} has a semicolon in its name, so no list can name it."
    types = {**Measured.__annotations__, **Predicted.__annotations__}
    of_speed = {field for field, kind in types.items() if str(kind).startswith(("int", "float"))}
    for question in task.predictions:
        if (question.answer is None) != (question.what in of_speed):
            yield (
                f"the prediction {question.what!r} has no answer, and a verdict's speed has no such number."
                if question.answer is None
                else f"the prediction {question.what!r} is named like a number of a verdict's speed."
            )
        elif isinstance(question.answer, str):
            try:
                result_value.find(question.answer)
            except BadInputError as error:
                yield f"the prediction {question.what!r}: {error}"


def page(lesson: Lesson, root: Path) -> Iterator[str]:
    """The parts of a page, its length, its links, and that its code runs."""
    text = (lesson.folder / "README.md").read_text("utf-8")
    words = page_words.count(text)
    fewest = 0 if blanks.names(blanks.left(lesson), "words") else WORDS[0]
    if not fewest <= words <= WORDS[1]:
        yield f"the page has {words} words, not {WORDS[0]} to {WORDS[1]}."
    if missing := HEADINGS - set(re.findall(r"^## (.*)$", text, re.M)):
        yield f"the page lacks {', '.join(sorted(missing))}."
    if '??? note "Teacher\'s note"' not in text:
        yield "the page has no teacher's note."
    if ".svg)" not in text:
        yield "the page has no diagram."
    prose = re.sub(r"^\s*```.*?^\s*```|`[^`\n]+`", "", text, flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)]+)\)", prose):
        if not target.startswith("https://") and not _leads(lesson.folder, target):
            yield f"the page's link {target} leads nowhere."
    yield from numbers.problems(text)
    yield from numbers.repeated(text, root)
    yield from blocks.problems(text, root, lesson.solution)


def _leads(folder: Path, target: str) -> bool:
    """Whether a link from a page in ``folder`` finds its file, and the heading in it."""
    file, _, heading = target.partition("#")
    path = folder / (file or "README.md")
    if not path.exists() or not heading:
        return path.exists()
    headings = re.findall(r"^#+ (.*)$", path.read_text("utf-8"), re.M)
    return heading in {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def alternatives(lesson: Lesson) -> list[Path]:
    """Other correct solutions."""
    return sorted((lesson.solution.parent / "alternatives").glob("*.py"))


def verdict(lesson: Lesson, file: Path) -> Verdict:
    """What the CPU back end says of ``file``."""
    job = Job(lesson.name, lesson.task, lesson.reference, read(file), detect.Choice("simt", "a check"))
    return grade(warm(job)).verdict


def starter(lesson: Lesson) -> list[str]:
    """The starter fails, first of all for the reason that the task declares, and says what to do first."""
    advice = [a.message for a in look(read(lesson.exercise), lesson.task)]
    if not any("Do this first: TODO 1: " in message for message in advice):
        return ["the starter does not say what to do first: its first TODO is not 'TODO 1: ...'."]
    got = verdict(lesson, lesson.exercise)
    failed = [f.id for f in got.findings if not f.ok and f.status is not Status.NOT_RUN]
    if failed[:1] != [lesson.task.starter_fails]:
        return [f"the starter fails first at {failed[:1]}, not at {lesson.task.starter_fails}."]
    # A starter may be right and slow, or right for one input: then it has the points of just that.
    return [f"the starter already has {got.points} points."] if 2 * got.points > got.max_points else []


def sibling(lesson: Lesson, root: Path) -> list[str]:
    """The small program that a page explains with runs on the CPU back end, and its own checks pass."""
    file = lesson.folder / "sibling.py"
    if not file.is_file():
        return []
    command = [sys.executable, "-m", "grader", "run", "--backend", "simt", str(file)]
    env = os.environ | {"PYTHONPATH": str(root), "COURSE_ROOT": str(root)}
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return [f"sibling.py had not ended after {SECONDS} s."]
    return [f"sibling.py fails: {(done.stderr or done.stdout).strip()[-400:]}"] if done.returncode else []


def correct(lesson: Lesson, file: Path) -> list[str]:
    """Full marks."""
    got = verdict(lesson, file)
    waiting = sum(f.max_points for f in got.findings if f.status in PENDING)
    if got.ok and got.points + waiting == got.max_points:
        return []
    why = next((f"{f.id}: {f.message}" for f in got.findings if not f.ok), "")
    return [f"{file.name} gets {got.points} of {got.max_points} points. {why}"]


def version(lesson: Lesson, mutant: mutants.Mutant) -> list[str]:
    """A mutant fails exactly the checks that it should; an unusual right version has full marks."""
    try:
        text = mutant.text(lesson.solution.read_text("utf-8"))
    except mutants.EditError:
        return []  # said already, by its form
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "mutant.py"
        file.write_text(text, "utf-8")
        if mutant.right:
            return [f"the right version {mutant.name!r}: {p}" for p in correct(lesson, file)]
        got = verdict(lesson, file)
    failed = [f for f in got.findings if not f.ok and f.status not in PENDING]
    names = {f.id for f in failed}
    if mutant.fails:
        said = [f"mutant {mutant.name!r} fails {sorted(names)}, not {sorted(mutant.fails)}."]
        return [] if mutant.fails <= names <= mutant.fails | mutant.may else said
    if got.ok or not failed:
        return [f"mutant {mutant.name!r} passes."]
    # It must fail for what it does, not because it is no longer a program.
    if dead := [f for f in failed if f.status in NO_PROGRAM]:
        return [f"mutant {mutant.name!r} is no program: {dead[0].message[:200]}"]
    return []


def gradings(lesson: Lesson, root: Path, *, with_mutants: bool) -> Iterator[Callable[[], list[str]]]:
    """Everything that has to be run for a lesson."""
    yield lambda: list(page(lesson, root))
    yield lambda: starter(lesson)
    yield lambda: list(visible.problems(lesson))
    yield lambda: sibling(lesson, root)
    yield lambda: correct(lesson, lesson.solution)
    others = alternatives(lesson)
    if len(others) < ALTERNATIVES and not blanks.names(blanks.left(lesson), "alternatives"):
        yield lambda: [f"there are {len(others)} alternative solutions, not {ALTERNATIVES}."]
    for file in others if with_mutants else []:
        yield lambda file=file: correct(lesson, file)  # type: ignore[misc]
    for mutant in mutants.declared(lesson) if with_mutants else []:
        yield lambda mutant=mutant: version(lesson, mutant)  # type: ignore[misc]
