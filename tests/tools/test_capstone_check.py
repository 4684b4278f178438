"""Every problem of the capstone is whole: solution right, starter and mutants wrong; most by ``--all``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.domain import capstone
from tools import capstone_check, mutants
from tools.mutants import Mutant

if TYPE_CHECKING:
    from grader.domain.capstone import CapstoneProblem

ROOT = Path(__file__).resolve().parents[2]
EVERY = capstone.problems()
NOW = ("swiglu", "cross_entropy")  # in a usual run
USUAL = [x if x.name in NOW else pytest.param(x, marks=pytest.mark.thorough) for x in EVERY]


def test_there_are_as_many_problems_as_the_page_promises() -> None:
    assert len(EVERY) == capstone_check.COUNT


@pytest.mark.parametrize("problem", EVERY, ids=lambda x: x.name)
def test_a_problem_has_its_lesson_sizes_and_mutants(problem: CapstoneProblem) -> None:
    assert not list(capstone_check.form(problem, ROOT))


@pytest.mark.slow(cases=len(EVERY))
@pytest.mark.parametrize("problem", USUAL, ids=lambda x: x.name)
def test_the_solution_is_right_and_starter_and_a_mutant_are_not(problem: CapstoneProblem) -> None:
    assert not capstone_check.right(problem)
    assert not capstone_check.wrong(problem, "the starter", problem.exercise.read_text())
    assert not capstone_check.killed(problem, mutants.declared(problem)[0])


def test_faults_of_form_are_named() -> None:
    broken = replace(capstone.find("swiglu"), lesson="99", operations_rule="rows - rows")
    said = " ".join(capstone_check.form(broken, ROOT))
    assert "no lesson 99" in said and "computes nothing" in said


@pytest.mark.slow
def test_a_mutant_that_passes_and_one_that_is_no_program_are_named() -> None:
    problem = capstone.find("swiglu")
    same = Mutant("a bound in other words", (("if (i >= elements)", "if (!(i < elements))"),))
    assert capstone_check.killed(problem, same) == ["mutant 'a bound in other words' passes."]
    dead = Mutant("no text", (("import torch\n", "import nothing_of_the_kind\n"),))
    assert "is no program" in capstone_check.killed(problem, dead)[0]
