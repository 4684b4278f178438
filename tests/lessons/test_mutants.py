"""Every mutant of a lesson's solution loses points: no wrong kernel passes."""

import importlib

import pytest

from grader import backend, lessons
from grader.check import Job, check
from grader.submission import read

LESSONS = ("09", "10", "12")
GIVEN = [(n, *m) for n in LESSONS for m in importlib.import_module(f"tests.mutants.lesson_{n}").MUTANTS]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "name", "old", "new"), GIVEN, ids=[f"{g[0]} {g[1]}" for g in GIVEN])
def test_a_mutant_does_not_pass(number, name, old, new, tmp_path):
    lesson = lessons.find(number)
    text = lesson.solution.read_text("utf-8")
    assert old in text, "the mutant no longer fits the solution"
    mutant = tmp_path / "mutant.py"
    mutant.write_text(text.replace(old, new), "utf-8")
    choice = backend.Choice("simt", "a test")
    verdict = check(Job(lesson.name, lesson.task, lesson.reference, read(mutant), choice)).verdict
    assert not verdict.ok
    assert verdict.points < verdict.max_points


@pytest.mark.parametrize("number", LESSONS)
def test_there_are_a_dozen_and_they_differ(number):
    own = [g for g in GIVEN if g[0] == number]
    assert len({g[1] for g in own}) == len(own) >= 12
    assert len({g[2:] for g in own}) == len(own)
